#!/usr/bin/env python3
"""Time to plan ResNet-152's training step: of the planner alone and of the whole command, for each policy."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
import tools  # noqa: E402


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--model", type=Path, default=tools.MODELS / "resnet152.onnx")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    build = tools.Tools(options.build_dir)
    slowest = 0
    with tempfile.TemporaryDirectory() as folder:
        for policy in ("none", "all", "conv"):
            planning, command = [], []
            for _ in range(options.rounds):
                begin = time.perf_counter()
                summary = build.plan(options.model, f"{folder}/plan.vdnn", f"--batch={options.batch}", "--loss=cross_entropy",
                                     f"--device={options.device}", f"--policy={policy}")
                command.append(time.perf_counter() - begin)
                planning.append(summary["planning_ns"] / 1e9)
            slowest = max(slowest, statistics.median(planning))
            print(f"{policy:5} planning {statistics.median(planning):.3f} s, command {statistics.median(command):.3f} s; peak "
                  f"{summary['device_arena'] / 2**30:.2f} GiB, lower bound {summary['lower_bound_bytes'] / 2**30:.2f} GiB")
    tools.fail_if([f"planning took {slowest:.3f} s, expected less than 1 s"] if slowest >= 1 else [], "planning takes less than a second")


if __name__ == "__main__":
    main()
