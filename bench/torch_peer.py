#!/usr/bin/env python3
"""PyTorch's training step of a network, to be compared with a plan's: median time, and what the whole device holds then.

A step is forward, backward and SGD with momentum and weight decay on random images that lie on the device already; dropout is on. cuDNN
chooses its algorithms by measuring, but for --no-search. One process measures one thing, so that nothing before it holds memory. Prints one line of JSON.
"""

import argparse
import contextlib
import json
import statistics
import time

import torch
import torchvision

NETWORKS = {
    "resnet50": torchvision.models.resnet50,
    "vgg16": torchvision.models.vgg16,
    "alexnet": torchvision.models.alexnet,
    "googlenet": lambda weights: torchvision.models.googlenet(weights=weights, aux_logits=False, init_weights=False),
}
PEERS = ("eager", "compile", "compile_graphs", "save_on_cpu")
PRECISIONS = ("fp32", "tf32", "bf16")
LAYOUTS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}


class Step:
    def __init__(self, options):
        device = torch.device(options.device)
        tf32 = options.precision == "tf32"
        torch.backends.cudnn.benchmark = not options.no_search
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
        layout = LAYOUTS[options.layout]
        torch.manual_seed(0)
        network = NETWORKS[options.network](weights=None).train().to(device, memory_format=layout)
        fused = {"fused": True} if device.type == "cuda" else {}
        self.optimizer = torch.optim.SGD(network.parameters(), lr=options.rate, momentum=0.9, weight_decay=1e-4, **fused)
        modes = {"compile": "default", "compile_graphs": "reduce-overhead"}
        self.network = torch.compile(network, mode=modes[options.peer]) if options.peer in modes else network
        self.images = torch.randn(options.batch, 3, 224, 224, device=device).contiguous(memory_format=layout)
        self.labels = torch.randint(0, 1000, (options.batch,), device=device)
        self.autocast = torch.autocast(device.type, torch.bfloat16) if options.precision == "bf16" else contextlib.nullcontext()
        saves = options.peer == "save_on_cpu"
        self.saving = torch.autograd.graph.save_on_cpu(pin_memory=options.device == "cuda") if saves else contextlib.nullcontext()

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.saving, self.autocast:
            loss = torch.nn.functional.cross_entropy(self.network(self.images), self.labels)
        loss.backward()
        self.optimizer.step()


def times_on_gpu(step, steps):
    """Milliseconds of each step, by events: the host may run ahead."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(marks, marks[1:])]


def times_on_cpu(step, steps):
    result = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        result.append((time.perf_counter() - begin) * 1e3)
    return result


def used_bytes():
    free, total = torch.cuda.mem_get_info()
    return total - free


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=NETWORKS, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="bf16: through autocast")
    parser.add_argument("--peer", choices=PEERS, default="eager", help="compile_graphs: torch.compile with CUDA graphs; save_on_cpu: what the "
                        "backward pass reads lies in pinned host memory")
    parser.add_argument("--layout", choices=LAYOUTS, default="channels_last")
    parser.add_argument("--no-search", action="store_true", help="cuDNN takes its first guess of algorithms: slower steps, sooner")
    parser.add_argument("--steps", type=int, default=20, help="that are measured")
    parser.add_argument("--warm-up", type=int, default=5, help="steps before them")
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate; a network that diverges computes with NaNs, and sooner")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try the script")
    options = parser.parse_args()
    gpu = options.device == "cuda"
    before = used_bytes() if gpu else 0
    step = Step(options)
    for _ in range(options.warm_up):
        step()
    if gpu:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # what only the search for algorithms took
    times = (times_on_gpu if gpu else times_on_cpu)(step, options.steps)
    result = {"network": options.network, "batch": options.batch, "precision": options.precision, "peer": options.peer, "layout": options.layout,
              "torch": torch.__version__, "median_ms": statistics.median(times), "fastest_ms": min(times), "slowest_ms": max(times)}
    if gpu:
        result |= {"device": torch.cuda.get_device_name(), "bytes_before": before, "bytes_in_use": used_bytes(),
                   "allocator_peak_bytes": torch.cuda.max_memory_allocated()}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
