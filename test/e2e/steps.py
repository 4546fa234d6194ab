"""One training step of a network by vdnn-run and by PyTorch, and how they are compared. gradients.py says what is asked."""

import re
import warnings
from collections import namedtuple

import numpy as np
import torch
import torchvision
from torch import nn

import tools
from decisions import Decisions, Followed, in_place_of_torch

RATE, MOMENTUM, DECAY = 0.01, 0.9, 1e-4
WARM_VELOCITY = 0.01  # so that one step shows what momentum does
STEP = ("--loss=cross_entropy", f"--momentum={MOMENTUM}", f"--weight-decay={DECAY}", "--dropout=off")  # of vdnn-opt


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


Network = namedtuple("Network", "make input size batch")  # the input's name, the images' size, the batch that the CPU is given
NETWORKS = {
    "alexnet": Network(lambda: torchvision.models.alexnet(weights=None), "x", 224, 2),
    "overfeat": Network(overfeat, "input", 231, 2),
    "vgg16": Network(lambda: torchvision.models.vgg16(weights=None), "x", 224, 1),
    "googlenet": Network(lambda: torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False), "x", 224, 2),
    "resnet50": Network(lambda: torchvision.models.resnet50(weights=None), "x", 224, 4),
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


class Problem:
    """What both sides start from: a network, its state, images and labels."""

    def __init__(self, name, batch):
        network = NETWORKS[name]
        self.input = network.input
        torch.manual_seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.network = network.make()
        generator = np.random.RandomState(2)
        self.images = images_of(generator, batch, network.size)
        self.labels = generator.randint(0, 1000, batch).astype(np.int64)
        self.start = state_of(self.network)

    def velocities(self):
        return {f"{key}.velocity": np.full(value.shape, WARM_VELOCITY, np.float32) for key, value in self.network.named_parameters()}


def torch_step(problem, dtype, stand_in, device="cpu", autocast=False):
    """One step of PyTorch; gradients, and the state after it with velocities. `autocast`: with activations and products in bf16."""
    network = problem.network
    network.load_state_dict({key: torch.from_numpy(value) for key, value in problem.start.items()}, strict=False)
    network.to(device, dtype).train()
    network.zero_grad(set_to_none=True)
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    for parameter in network.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.full_like(parameter, WARM_VELOCITY)
    with in_place_of_torch(stand_in), torch.autocast(device, torch.bfloat16, enabled=autocast):
        loss = nn.functional.cross_entropy(network(torch.from_numpy(problem.images).to(device, dtype)), torch.from_numpy(problem.labels).to(device))
    loss.backward()
    gradients = {name: parameter.grad.cpu().numpy() for name, parameter in network.named_parameters()}
    optimizer.step()
    state = {name: value.detach().cpu().numpy().copy() for name, value in network.state_dict().items() if not name.endswith("num_batches_tracked")}
    for name, parameter in network.named_parameters():
        state[f"{name}.velocity"] = optimizer.state[parameter]["momentum_buffer"].cpu().numpy()
    return gradients, state


def our_step(build, plan, folder, problem, relus, pools):
    """The same step by a plan: gradients and the state after it, and the decisions that it took (`relus`, `pools`: see decision_names)."""
    wanted = sorted({name for names in relus + pools for name in names})
    tools.write_safetensors(folder / "start.safetensors", {**problem.start, **problem.velocities()})
    np.save(folder / "images.npy", problem.images)
    np.save(folder / "labels.npy", problem.labels)
    build.run("vdnn-run", plan, "--weights", folder / "start.safetensors", "--data", f"{problem.input}={folder}/images.npy", "--data",
              f"labels={folder}/labels.npy", "--steps", 1, "--rate", RATE, "--dump-gradients", folder / "gradients.safetensors", "--dump-tensors",
              folder / "decisions.safetensors", "--dump-filter", f"^({'|'.join(map(re.escape, wanted))})$", "--save",
              folder / "end.safetensors")
    gradients = {key.removesuffix(".grad"): value for key, value in tools.read_safetensors(folder / "gradients.safetensors").items()}
    values = {key: torch.tensor(value) for key, value in tools.read_safetensors(folder / "decisions.safetensors").items()}
    step = gradients, tools.read_safetensors(folder / "end.safetensors")
    return step, Decisions(*([next(values[name] for name in names if name in values) for names in kind] for kind in (relus, pools)))


def error(a, b):
    scale = np.linalg.norm(b)
    difference = np.linalg.norm(a.astype(np.float64) - b)
    if difference == 0:
        return 0.0
    result = difference / scale if scale > 0 else np.inf
    return result if np.isfinite(result) else np.inf  # so that NaN is the largest error


def compare(what, mine, reference, tolerance):
    """A line for people, what is wrong, and the largest error."""
    problems = [f"no {what} of '{key}'" for key in reference if key not in mine]
    errors = {key: error(mine[key], value) for key, value in reference.items() if key in mine}
    problems += [f"{what} of '{key}' differs by {found:.2e}, allowed {tolerance:.0e}" for key, found in errors.items() if not found <= tolerance]
    worst = max(errors, key=errors.get, default=None)
    line = f"{what}: {len(errors)} tensors, worst {errors[worst]:.2e} at '{worst}'" if errors else f"{what}: none"
    return line, problems, errors.get(worst, 0.0)


def check_decisions(followed):
    return [f"{what} decisions are not PyTorch's: {tally}" for what, tally in (("ReLU", followed.relus), ("maximum pool", followed.pools))
            if tally.wrong()]


class Outcome:
    """How a step compares with PyTorch's in fp64 that takes its decisions."""

    def __init__(self, problems, worst, followed):
        self.problems = problems
        self.worst = worst  # what was compared: its largest error
        self.followed = followed


def against(problem, who, step, decisions, tolerance, device="cpu"):
    followed = Followed(decisions)
    exact = torch_step(problem, torch.float64, followed, device)
    followed.finish()
    problems, worst = check_decisions(followed), {}
    print(f"  {who}: decided otherwise: ReLUs {followed.relus}, maximum pools {followed.pools}")
    for what, mine, reference in zip(("gradient", "new value"), step, exact):
        line, found, worst[what] = compare(what, mine, reference, tolerance)
        print(f"  {who}: {line}", flush=True)
        problems += found
    return Outcome(problems, worst, followed)
