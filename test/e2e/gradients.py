#!/usr/bin/env python3
"""Gradients and one SGD step of real networks against PyTorch's, per parameter.

Both sides start from the same weights (PyTorch's initialisation), see the same images, have dropout off, and take one step with momentum and weight
decay. Each gradient, velocity, updated weight and running statistic must agree with PyTorch's in fp64 within ||a - b|| / ||b|| <= 1e-4.

ReLUs and maximum pools have kinks: where rounding moves one unit across, a gradient changes by far more than rounding. The reference therefore takes
the decisions of our run (decisions.py), and each decision that fp64 would have taken otherwise must lie where rounding explains it: within
3e-4 of its channel's root mean square from the kink, and at most one unit of 100 000.
"""

import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
import torchvision
from torch import nn

import tools
from decisions import Decisions, Followed, Recorder, in_place_of_torch

RATE, MOMENTUM, DECAY = 0.01, 0.9, 1e-4
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
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), "x", 224, 4),
}


def state_of(network):
    return {name: value.detach().to(torch.float32).numpy().copy() for name, value in network.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def images_of(generator, batch, size):
    """Random images that differ from each other as photographs do: white noise looks the same to every deep layer, whose normalisation would then
    magnify rounding."""
    coarse = torch.from_numpy(generator.standard_normal((batch, 3, 4, 4)))
    smooth = nn.functional.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False).numpy()
    return (2 * smooth + 0.25 * generator.standard_normal((batch, 3, size, size))).astype(np.float32)


def torch_step(network, start, images, labels, dtype, stand_in):
    """One step of PyTorch from the state `start`; loss, gradients, and the state after it with velocities."""
    network.load_state_dict({key: torch.from_numpy(value) for key, value in start.items()}, strict=False)
    network.to(dtype).train()
    network.zero_grad(set_to_none=True)
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for parameter in network.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.full_like(parameter, WARM_VELOCITY)
    with in_place_of_torch(stand_in):
        loss = nn.functional.cross_entropy(network(torch.from_numpy(images).to(dtype)), torch.from_numpy(labels))
    loss.backward()
    gradients = {name: parameter.grad.numpy() for name, parameter in network.named_parameters()}
    optimizer.step()
    state = {name: value.detach().numpy().copy() for name, value in network.state_dict().items() if not name.endswith("num_batches_tracked")}
    for name, parameter in network.named_parameters():
        state[f"{name}.velocity"] = optimizer.state[parameter]["momentum_buffer"].numpy()
    return loss.item(), gradients, state


def error(a, b):
    scale = np.linalg.norm(b)
    difference = np.linalg.norm(a.astype(np.float64) - b)
    if difference == 0:
        return 0.0
    result = difference / scale if scale > 0 else np.inf
    return result if np.isfinite(result) else np.inf  # so that NaN is the largest error


def compare(what, mine, reference, tolerance):
    """A line for people, and what is wrong."""
    problems = [f"no {what} of '{key}'" for key in reference if key not in mine]
    errors = {key: error(mine[key], value) for key, value in reference.items() if key in mine}
    problems += [f"{what} of '{key}' differs by {found:.2e}, allowed {tolerance:.0e}" for key, found in errors.items() if not found <= tolerance]
    worst = max(errors, key=errors.get, default=None)
    return (f"{what}: {len(errors)} tensors, worst {errors[worst]:.2e} at '{worst}'" if errors else f"{what}: none"), problems


def check_decisions(followed):
    return [f"{what} decisions are not PyTorch's: {tally}" for what, tally in (("ReLU", followed.relus), ("maximum pool", followed.pools))
            if tally.wrong()]


def self_check(tolerance):
    """The comparisons below can fail: each kind of fault is found, and rounding is none."""
    reference = {"w": np.linspace(-1, 1, 101)}
    for factor, right in ((1 + tolerance / 2, True), (1 + 2 * tolerance, False), (-1, False), (0, False), (np.nan, False)):
        assert right != bool(compare("gradient", {"w": reference["w"] * factor}, reference, tolerance)[1]), factor
    assert compare("gradient", {}, reference, tolerance)[1]
    assert compare("gradient", {"w": np.ones(3)}, {"w": np.zeros(3)}, tolerance)[1]
    x = torch.linspace(-1, 1, 160002, dtype=torch.float64).reshape(1, 1, 2, 80001)
    for place, right in ((80000, True), (79000, False), (120000, False)):  # beside the middle, where x changes its sign, and away from it
        output = x.relu()
        output.view(-1)[place] = 1 - (output.view(-1)[place] > 0).double()
        moved = x.clone()
        moved.view(-1)[place] += 5  # above the other elements of its window
        for decisions, run in ((Decisions([output], []), lambda followed: followed.relu(x)),
                               (Decisions([], [moved]), lambda followed: followed.pool(x, 2, 1))):
            followed = Followed(decisions)
            run(followed)
            expected = right and not decisions.pool_inputs
            assert expected != bool(check_decisions(followed)), (place, str(followed.relus), str(followed.pools))
    followed = Followed(Decisions([], [x]))
    followed.pool(x, 2, 1)
    assert not check_decisions(followed)


def our_step(name, build, folder, options, start, images, labels):
    """The same step by vdnn: gradients, the state after it, and the decisions it took."""
    _, input_name, _, batch = NETWORKS[name]
    model = options.models / f"{name}.onnx"
    nodes = onnx.load(model, load_external_data=False).graph.node
    relus = [node.output[0] for node in nodes if node.op_type == "Relu"]
    pools = [node.input[0] for node in nodes if node.op_type == "MaxPool"]
    tools.write_safetensors(folder / "start.safetensors", start)
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels)
    build.plan(model, folder / "plan.vdnn", f"--batch={batch}", "--loss=cross_entropy", f"--momentum={MOMENTUM}", f"--weight-decay={DECAY}",
               "--dropout=off", f"--policy={options.policy}")
    build.run("vdnn-run", folder / "plan.vdnn", "--weights", folder / "start.safetensors", "--data", f"{input_name}={folder}/images.npy", "--data",
              f"labels={folder}/labels.npy", "--steps", 1, "--rate", RATE, "--dump-gradients", folder / "gradients.safetensors", "--dump-tensors",
              folder / "decisions.safetensors", "--dump-filter", f"^({'|'.join(map(re.escape, sorted({*relus, *pools})))})$", "--save",
              folder / "end.safetensors")
    gradients = {key.removesuffix(".grad"): value for key, value in tools.read_safetensors(folder / "gradients.safetensors").items()}
    values = {key: torch.tensor(value) for key, value in tools.read_safetensors(folder / "decisions.safetensors").items()}
    return gradients, tools.read_safetensors(folder / "end.safetensors"), Decisions([values[key] for key in relus], [values[key] for key in pools])


def check(name, build, folder, options):
    make, _, size, batch = NETWORKS[name]
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = make()
    generator = np.random.RandomState(2)
    images = images_of(generator, batch, size)
    labels = generator.randint(0, 1000, batch).astype(np.int64)
    start = state_of(network)
    velocities = {f"{key}.velocity": np.full(value.shape, WARM_VELOCITY, np.float32) for key, value in network.named_parameters()}
    *ours, decisions = our_step(name, build, folder, options, {**start, **velocities}, images, labels)
    problems = against(network, start, images, labels, "ours", ours, decisions, options.tolerance)
    if options.pytorch:
        recorder = Recorder()
        _, *single = torch_step(network, start, images, labels, torch.float32, recorder)
        against(network.double(), start, images, labels, "PyTorch in fp32", single, recorder.decisions, options.tolerance)
    return [f"{name}: {problem}" for problem in problems]


def against(network, start, images, labels, who, step, decisions, tolerance):
    """Compares a step in fp32 with PyTorch's in fp64 that takes its decisions."""
    followed = Followed(decisions)
    _, *exact = torch_step(network, start, images, labels, torch.float64, followed)
    followed.finish()
    problems = check_decisions(followed)
    print(f"  {who}: decided otherwise: ReLUs {followed.relus}, maximum pools {followed.pools}")
    for what, mine, reference in zip(("gradient", "new value"), step, exact):
        line, found = compare(what, mine, reference, tolerance)
        print(f"  {who}: {line}", flush=True)
        problems += found
    return problems


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("networks", nargs="*", default=[], metavar="network", help="of " + ", ".join(NETWORKS) + " (default: all)")
    parser.add_argument("--models", type=Path, default=tools.MODELS, help="folder of the .onnx files")
    parser.add_argument("--policy", default="none", help="vdnn-opt's --policy")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--pytorch", action="store_true", help="print the errors of PyTorch's own fp32 step too")
    options = parser.parse_args()
    unknown = set(options.networks) - set(NETWORKS)
    if unknown:
        sys.exit(f"unknown network '{unknown.pop()}'; expected one of {', '.join(NETWORKS)}")
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    self_check(options.tolerance)
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
