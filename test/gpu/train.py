#!/usr/bin/env python3
"""Trains on the GPU with plans that make_plans.py made; needs vdnn-run and PyTorch, not the compiler.

digits     the net learns, and every plan and debug mode, and a run that is killed and resumed, ends with the same bits
gradients  one step of each network against PyTorch's in fp64 on the same GPU (test/e2e/gradients.py says how). In fp32 each parameter agrees
           within 1e-4; in tf32 and bf16 the largest error is at most 1.5 times that of PyTorch's own step in the same precision
bits       ResNet-50 ends five steps with the same bits under every policy
"""

import contextlib
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import plans  # noqa: E402
import tools  # noqa: E402
from digits_runs import DigitsRuns  # noqa: E402

TOLERANCE = 1e-4
REDUCED_FACTOR = 1.5


class Stage:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tools = tools.Tools(options.build_dir, ("vdnn-run",))
        self.problems = []

    def same(self, what, weights, reference):
        same = weights.read_bytes() == reference
        print(f"  {what}: {'same bits' if same else 'DIFFERENT'}", flush=True)
        if not same:
            self.problems.append(f"{what}: the weights differ from those of the unplanned run")

    def digits(self):
        epochs = 15
        made = plans.load(self.options.plans, "digits")
        runs = DigitsRuns(self.tools, self.options.plans / "digits", self.folder)
        base, tight = (self.options.plans / made["plans"][place]["plan"] for place in (0, -1))
        trained = runs.train("none", base, epochs)
        reference = trained.read_bytes()
        accuracy = runs.accuracy(self.options.plans / made["infer"], trained)
        print(f"  test accuracy after {epochs} epochs: {accuracy:.4f}")
        if accuracy < 0.98:
            self.problems.append(f"digits: test accuracy is {accuracy:.4f}, expected at least 0.98")
        for entry in made["plans"]:
            self.same(entry["what"], runs.train("planned", self.options.plans / entry["plan"], epochs), reference)
        for mode in (("--no-graph",), ("--poison",), ("--jitter", 3), ("--verify-copies",), ("--poison", "--jitter", 4, "--verify-copies")):
            self.same(" ".join(map(str, mode)), runs.train("debug", tight, epochs, *mode), reference)
        print(f"  kill with --seed {self.options.seed}")
        rng = random.Random(self.options.seed)
        self.same("killed and resumed", runs.kill_and_resume(tight, epochs, rng), reference)
        saved, steps = runs.interrupt(tight, rng.randint(5, 40))
        whole = self.folder / "whole.safetensors"
        self.tools.run("vdnn-run", *without_epochs(runs.arguments(base, whole, 1)), "--steps", steps)
        self.same(f"Ctrl-C after step {steps}", saved, whole.read_bytes())
        said = runs.bad_label(tight)
        print(f"  a bad label: {said}")
        if said is None:
            self.problems.append("digits: a label that is no class is no error that names it")

    def gradients(self):
        networks = list(dict.fromkeys(entry["network"] for entry in plans.load(self.options.plans, "gradients")
                                      if not self.options.networks or entry["network"] in self.options.networks))
        if not networks:
            sys.exit(f"there are no plans for gradients of: {' '.join(self.options.networks)}")
        if len(networks) == 1:
            self.gradients_of(networks[0])
            return
        # Side by side: most of it is comparing on the host, on one core each.
        arguments = ["--build-dir", self.options.build_dir, "--plans", self.options.plans, "--device", self.options.device]
        processes = [subprocess.Popen([sys.executable, __file__, "gradients", "--networks", network, *map(str, arguments)], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True) for network in networks]
        for network, process in zip(networks, processes):
            output, _ = process.communicate()
            print(output, end="", flush=True)
            if process.returncode != 0:
                self.problems.append(f"{network}: the gradients, see above")

    def gradients_of(self, network):
        import torch

        import steps
        from decisions import Recorder

        device = "cpu" if self.options.device == "cpu" else "cuda"
        torch.backends.cudnn.deterministic = True
        for entry in plans.load(self.options.plans, "gradients"):
            if entry["network"] != network:
                continue
            begin = time.time()
            name, reduced = f"{entry['network']}, {entry['precision']}", entry["precision"] != "fp32"
            print(f"  {name}, batch {entry['batch']}:", flush=True)
            problem = steps.Problem(entry["network"], entry["batch"])
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                step, decisions = steps.our_step(self.tools, self.options.plans / entry["plan"], Path(folder), problem, entry["relus"],
                                                 entry["pools"])
            ours = steps.against(problem, "ours", step, decisions, TOLERANCE, device)
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = entry["precision"] == "tf32"
            recorder = Recorder()
            step = steps.torch_step(problem, torch.float32, recorder, device, autocast=entry["precision"] == "bf16")
            theirs = steps.against(problem, f"PyTorch in {entry['precision']}", step, recorder.decisions, TOLERANCE, device)
            found = beside(ours, theirs) if reduced else ours.problems
            self.problems += [f"{name}: {line}" for line in found]
            print(f"  {time.time() - begin:.1f} s", flush=True)

    def bits(self):
        reference = None
        for entry in plans.load(self.options.plans, "bits"):
            output = self.folder / "bits.safetensors"
            self.tools.run("vdnn-run", self.options.plans / entry["plan"], "--steps", self.options.bits_steps, "--seed", 5, "--save", output)
            if reference is None:
                reference = output.read_bytes()
            else:
                self.same(entry["what"], output, reference)


def without_epochs(arguments):
    place = arguments.index("--epochs")
    return arguments[:place] + arguments[place + 2 :]


def beside(ours, theirs):
    """What is wrong with a step in reduced precision, beside PyTorch's own."""
    problems = []
    for what, error in ours.worst.items():
        allowed = REDUCED_FACTOR * theirs.worst[what]
        print(f"  {what}: {error / theirs.worst[what] if theirs.worst[what] else float(error > 0):.2f} times PyTorch's largest error")
        if not error <= allowed:
            problems.append(f"{what}: the largest error is {error:.2e}, allowed {REDUCED_FACTOR} times PyTorch's {theirs.worst[what]:.2e}")
    for what in ("relus", "pools"):
        mine, other = getattr(ours.followed, what), getattr(theirs.followed, what)
        if mine.flipped > 2 * other.flipped + mine.SHARE * mine.total:
            problems.append(f"{what}: {mine} decided otherwise, by PyTorch {other}")
    return problems


def self_check():
    """`beside` finds an error or decisions that are too far from PyTorch's, and nothing else."""
    def outcome(error, flipped):
        tally = SimpleNamespace(flipped=flipped, total=1000, SHARE=1e-5)
        return SimpleNamespace(worst={"gradient": error}, followed=SimpleNamespace(relus=tally, pools=tally))

    with contextlib.redirect_stdout(io.StringIO()):
        for error, flipped, right in ((1.4e-3, 5, True), (1.6e-3, 5, False), (float("inf"), 5, False), (1e-3, 20, True), (1e-3, 21, False)):
            assert right != bool(beside(outcome(error, flipped), outcome(1e-3, 10))), (error, flipped)


GROUPS = ("digits", "gradients", "bits")


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--plans", type=Path, required=True, help="what make_plans.py wrote")
    parser.add_argument("--networks", nargs="+", default=[], help="of the group gradients (default: all)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: with plans made for it")
    parser.add_argument("--bits-steps", type=int, default=5, help="of the group bits")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the moments of the kill and of Ctrl-C; printed")
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        sys.exit(f"unknown group '{unknown.pop()}'; expected some of {', '.join(GROUPS)}")
    self_check()
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(options, Path(folder))
        for group in options.groups or GROUPS:
            print(f"{group}:", flush=True)
            getattr(stage, group)()
    tools.fail_if(stage.problems, "the GPU trains as it should" if options.device == "cuda" else "the CPU trains as it should")


if __name__ == "__main__":
    main()
