#!/usr/bin/env python3
"""The CPU step of ResNet-50 against PyTorch's: same machine, same run, same number of threads, taking turns.

A step is forward, backward and SGD with momentum. Each side runs once to warm up; then the two take turns, and the medians are compared.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torchvision

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
import tools  # noqa: E402


class PyTorch:
    def __init__(self, options, images, labels):
        torch.set_num_threads(options.threads)
        self.network = torchvision.models.resnet50(weights=None).train()
        if options.channels_last:
            self.network = self.network.to(memory_format=torch.channels_last)
            images = images.contiguous(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01, momentum=0.9)
        self.images, self.labels = images, labels

    def step(self):
        begin = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(self.network(self.images), self.labels).backward()
        self.optimizer.step()
        return time.perf_counter() - begin


class Planned:
    def __init__(self, options, folder, images, labels):
        self.tools = tools.Tools(options.build_dir)
        self.folder, self.options = folder, options
        np.save(folder / "images.npy", images.numpy())
        np.save(folder / "labels.npy", labels.numpy())
        self.plan = folder / "plan.vdnn"
        self.tools.plan(options.model, self.plan, f"--batch={options.batch}", "--loss=cross_entropy", "--momentum=0.9", f"--policy={options.policy}",
                        f"--threads={options.threads}")

    def steps(self, count):
        """Seconds of `count` steps on average, one more to warm up left out by vdnn-run."""
        result = self.tools.run("vdnn-run", self.plan, "--threads", self.options.threads, "--data", f"x={self.folder}/images.npy", "--data",
                                f"labels={self.folder}/labels.npy", "--steps", count + 1, "--report", "json")
        return json.loads(result.stdout)["mean_step_ns"] / 1e9


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--model", type=Path, default=tools.MODELS / "resnet50.onnx")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both sides (default: all cores)")
    parser.add_argument("--policy", default="none")
    parser.add_argument("--channels-last", action="store_true", help="PyTorch's other memory layout")
    options = parser.parse_args()
    torch.manual_seed(0)
    images = torch.randn(options.batch, 3, 224, 224)
    labels = torch.randint(0, 1000, (options.batch,))
    with tempfile.TemporaryDirectory() as folder:
        planned = Planned(options, Path(folder), images, labels)
        theirs = PyTorch(options, images, labels)
        theirs.step()
        times = {"vDNN": [], "PyTorch": []}
        for _ in range(options.rounds):
            times["vDNN"].append(planned.steps(1))
            times["PyTorch"].append(theirs.step())
    for name, taken in times.items():
        print(f"{name:8} {statistics.median(taken):.3f} s  ({', '.join(f'{t:.3f}' for t in taken)})")
    ratio = statistics.median(times["vDNN"]) / statistics.median(times["PyTorch"])
    print(f"batch {options.batch}, {options.threads} threads, PyTorch {torch.__version__}: vDNN takes {ratio:.3f} of PyTorch's time")


if __name__ == "__main__":
    main()
