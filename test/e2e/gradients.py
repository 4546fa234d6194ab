#!/usr/bin/env python3
"""Gradients and one SGD step of real networks against PyTorch's, per parameter.

Both sides start from the same weights (PyTorch's initialisation), see the same images, have dropout off, and take one step with momentum and weight
decay. Each gradient, velocity, updated weight and running statistic must agree with PyTorch's in fp64 within ||a - b|| / ||b|| <= 1e-4.

ReLUs and maximum pools have kinks: where rounding moves one unit across, a gradient changes by far more than rounding. The reference therefore takes
the decisions of our run (decisions.py), and each decision that fp64 would have taken otherwise must lie where rounding explains it: within
3e-4 of its channel's root mean square from the kink, and at most one unit of 100 000.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import tools
from decision_names import decision_names
from decisions import Decisions, Followed, Recorder
from steps import NETWORKS, STEP, Problem, against, check_decisions, compare, our_step, torch_step


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


def check(name, build, folder, options):
    problem = Problem(name, NETWORKS[name].batch)
    model = options.models / f"{name}.onnx"
    build.plan(model, folder / "plan.vdnn", f"--batch={NETWORKS[name].batch}", *STEP, f"--policy={options.policy}")
    ours, decisions = our_step(build, folder / "plan.vdnn", folder, problem, *decision_names(model))
    outcome = against(problem, "ours", ours, decisions, options.tolerance)
    if options.pytorch:
        recorder = Recorder()
        single = torch_step(problem, torch.float32, recorder)
        against(problem, "PyTorch in fp32", single, recorder.decisions, options.tolerance)
    return [f"{name}: {line}" for line in outcome.problems]


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
