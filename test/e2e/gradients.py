#!/usr/bin/env python3
"""Gradients and one SGD step of real networks against PyTorch's, per parameter.

Both sides start from the same weights (PyTorch's initialisation), see the same images, have dropout off, and take one step with momentum and weight
decay. Gradients, updated weights and running statistics must agree within ||a - b|| / ||b|| <= 1e-4 in fp32.

ReLUs and maximum pools have kinks: rounding flips a unit there, and two correct fp32 programs then differ by 1 / sqrt(units), far more than
1e-4. So biases are set such that no ReLU works near its kink (`settle`), PyTorch in fp64 is the reference, and PyTorch's own fp32
error against it is printed beside ours. Networks with batch normalisation magnify rounding themselves, and a settled bias in front of
a normalisation has no gradient at all: they keep PyTorch's initialisation, and there our worst error may be at most
NATURAL_FACTOR times PyTorch's own worst.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torchvision
from torch import nn

import tools

RATE, MOMENTUM, DECAY = 0.01, 0.9, 1e-4
SPREAD = 5.0
SETTLED_FACTOR = 1.5
NATURAL_FACTOR = 3.0
# A gradient smaller than this share of the network's largest is zero but for rounding.
ZERO = 1e-4
WARM_VELOCITY = 0.01  # so that one step shows what momentum does


def overfeat():
    """OverFeat's fast net, in the exported model's numbering."""
    def conv(inputs, outputs, kernel, **more):
        return [nn.Conv2d(inputs, outputs, kernel, **more), nn.ReLU()]

    def pool():
        return [nn.MaxPool2d(2, 2)]

    return nn.Sequential(
        *conv(3, 96, 11, stride=4), *pool(), *conv(96, 256, 5), *pool(), *conv(256, 512, 3, padding=1), *conv(512, 1024, 3, padding=1),
        *conv(1024, 1024, 3, padding=1), *pool(), nn.Flatten(), nn.Linear(36864, 3072), nn.ReLU(), nn.Dropout(), nn.Linear(3072, 4096), nn.ReLU(),
        nn.Dropout(), nn.Linear(4096, 1000))


# Name: network, input name, image size, batch.
NETWORKS = {
    "alexnet": (lambda: torchvision.models.alexnet(weights=None), "x", 224, 2),
    "overfeat": (overfeat, "input", 231, 2),
    "vgg16": (lambda: torchvision.models.vgg16(weights=None), "x", 224, 1),
    "googlenet": (lambda: torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False), "x", 224, 2),
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), "x", 224, 2),
}


def state_of(network):
    return {name: value.detach().to(torch.float32).numpy().copy() for name, value in network.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def settle(network, images):
    """Sets biases so that no ReLU works near its kink: rounding flips a unit there, and one flipped unit of n is an error of 1 / sqrt(n).

    Channel means of what enters each ReLU are moved SPREAD standard deviations away from zero, alternating between on and off.
    """
    network.eval()  # without dropout

    def shift(module, _, output):
        axes = [axis for axis in range(output.dim()) if axis != 1]
        mean, std = output.mean(axes), output.std(axes, unbiased=False) + 1e-3
        if output.dim() == 2:  # one image gives no spread over a fully connected unit
            mean, std = output.mean(0), output.std() + torch.zeros(output.shape[1])
        sign = 1.0 - 2.0 * (torch.arange(len(mean)) % 2)
        change = SPREAD * sign * std - mean
        module.bias.data += change
        return output + change.reshape([1, -1] + [1] * (output.dim() - 2))

    modules = [module for module in network.modules() if isinstance(module, (nn.Conv2d, nn.Linear))]
    last = modules[-1]
    hooks = [module.register_forward_hook(shift) for module in modules if module is not last]
    with torch.no_grad():
        network(torch.from_numpy(images))
    for hook in hooks:
        hook.remove()


def torch_step(network, images, labels, dtype):
    """One step of PyTorch; gradients and the state after it."""
    network.to(dtype).train()
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for parameter in network.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.full_like(parameter, WARM_VELOCITY)
    loss = nn.functional.cross_entropy(network(torch.from_numpy(images).to(dtype)), torch.from_numpy(labels))
    loss.backward()
    gradients = {name: parameter.grad.double().numpy() for name, parameter in network.named_parameters()}
    optimizer.step()
    state = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}
    return loss.item(), gradients, state


def error(a, b, floor):
    scale = max(np.linalg.norm(b), floor) or 1.0
    result = np.linalg.norm(a.astype(np.float64) - b) / scale
    return result if np.isfinite(result) else np.inf  # so that NaN is the largest error


def normalises(network):
    return any(isinstance(module, nn.BatchNorm2d) for module in network.modules())


def check(name, build, folder, options):
    make, input_name, size, batch = NETWORKS[name]
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = make()
    generator = np.random.RandomState(2)
    images = generator.standard_normal((batch, 3, size, size)).astype(np.float32)
    labels = generator.randint(0, 1000, batch).astype(np.int64)
    settled = not normalises(network)
    if settled:
        settle(network, images)
    start = state_of(network)
    velocities = {f"{key}.velocity": np.full(value.shape, WARM_VELOCITY, np.float32) for key, value in network.named_parameters()}
    tools.write_safetensors(folder / "start.safetensors", {**start, **velocities})
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels)

    build.plan(options.models / f"{name}.onnx", folder / "plan.vdnn", f"--batch={batch}", "--loss=cross_entropy", f"--momentum={MOMENTUM}",
               f"--weight-decay={DECAY}", "--dropout=off", f"--policy={options.policy}")
    build.run("vdnn-run", folder / "plan.vdnn", "--weights", folder / "start.safetensors", "--data", f"{input_name}={folder}/images.npy", "--data",
              f"labels={folder}/labels.npy", "--steps", 1, "--rate", RATE, "--dump-gradients", folder / "gradients.safetensors", "--save",
              folder / "end.safetensors")
    gradients = {key.removesuffix(".grad"): value for key, value in tools.read_safetensors(folder / "gradients.safetensors").items()}
    ours = gradients, tools.read_safetensors(folder / "end.safetensors")

    _, *single = torch_step(network, images, labels, torch.float32)
    network.load_state_dict({key: torch.from_numpy(value) for key, value in start.items()}, strict=False)
    network.zero_grad()
    _, *exact = torch_step(network, images, labels, torch.float64)

    problems = []
    for what, mine, theirs, reference in zip(("gradient", "new value"), ours, single, exact):
        reference = {key: value for key, value in reference.items() if not key.endswith("num_batches_tracked")}
        problems += [f"{name}: no {what} of '{key}'" for key in reference if key not in mine]
        floor = ZERO * max(np.linalg.norm(value) for value in reference.values())
        errors = {key: (error(mine[key], value, floor), error(theirs[key], value, floor)) for key, value in reference.items() if key in mine}
        worst = max(errors, key=lambda key: errors[key][0])
        torch_worst = max(theirs_error for _, theirs_error in errors.values())
        print(f"  {'settled' if settled else 'natural'} {what}: {len(reference)} tensors, worst {errors[worst][0]:.2e} at '{worst}', "
              f"PyTorch's fp32 worst {torch_worst:.2e}", flush=True)
        for key, (found, theirs_error) in errors.items():
            # A maximum pool flips in both programs alike: nobody can be asked to be closer than PyTorch is.
            allowed = max(options.tolerance, SETTLED_FACTOR * theirs_error if settled else NATURAL_FACTOR * torch_worst)
            if not found <= allowed:
                problems.append(f"{name}: {what} of '{key}' differs by {found:.2e}, PyTorch's fp32 by {theirs_error:.2e}, allowed {allowed:.0e}")
    return problems


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("networks", nargs="*", default=[], metavar="network", help="of " + ", ".join(NETWORKS) + " (default: all)")
    parser.add_argument("--models", type=Path, default=tools.MODELS, help="folder of the .onnx files")
    parser.add_argument("--policy", default="none", help="vdnn-opt's --policy")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    unknown = set(options.networks) - set(NETWORKS)
    if unknown:
        sys.exit(f"unknown network '{unknown.pop()}'; expected one of {', '.join(NETWORKS)}")
    build = tools.Tools(options.build_dir)
    problems = []
    for name in options.networks or NETWORKS:
        begin = time.time()
        print(f"{name}:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            problems += check(name, build, Path(folder), options)
        print(f"  {time.time() - begin:.1f} s")
    tools.fail_if(problems, "gradients and updates agree with PyTorch's")


if __name__ == "__main__":
    main()
