#!/usr/bin/env python3
"""A plan keeps to its budget for the whole process: with exactly that much of the GPU left free, as cudaMemGetInfo tells it, vdnn-run works and
never uses more. With a granule (2 MiB) less than it needs, which may be less than its budget, it is refused before the first kernel, in words that
say how much is free, how much is needed and what to do. Plans are those of make_plans.py's group budget; nothing else may use the GPU."""

import json
import re
import sys
from pathlib import Path

from gpu_memory import GRANULE, GpuMemory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import plans  # noqa: E402
import tools  # noqa: E402


class Budget:
    def __init__(self, options):
        self.options = options
        self.tools = tools.Tools(options.build_dir, ("vdnn-run",))
        self.memory = GpuMemory()
        self.problems = []

    def run(self, entry, left):
        """vdnn-run with that many bytes left."""
        free = self.memory.leave(left)
        command = self.tools.command("vdnn-run", self.options.plans / entry["plan"], "--steps", self.options.steps, "--report", "json")
        result, used = self.memory.watch(command)
        self.memory.release()
        return result, free, used

    def test(self, entry):
        name, budget, arena = entry["plan"], entry["budget"], entry["device_arena"]
        result, free, used = self.run(entry, budget)
        print(f"  {name}: budget {budget}, arena {arena}; {free} free, {used} used ({used - budget:+d})")
        if result.returncode != 0:
            self.problems.append(f"{name}: with its budget of {budget} bytes left it fails: {result.stderr.strip()}")
        else:
            report = json.loads(result.stdout)
            if report["device_arena_bytes"] != arena or report["steps"] != self.options.steps:
                self.problems.append(f"{name}: the report says an arena of {report['device_arena_bytes']} bytes and {report['steps']} steps")
            if used > budget:
                self.problems.append(f"{name}: uses {used} bytes, {used - budget} more than its budget: plan with a measured profile, whose overhead "
                                     "is that of this machine")
            if used < arena:
                self.problems.append(f"{name}: {used} bytes of use were seen, less than its arena")
        result, free, used = self.run(entry, entry["device_bytes"] - GRANULE)
        said = result.stderr.strip()
        print(f"  {name}: {free} free: {said}")
        if result.returncode != 1 or not re.search(r"error: .*does not fit on the device as it is: the arena takes (\d+) bytes.* libraries \d+ bytes"
                                                   r".* and \d+ bytes .* are free; end what else uses the device, or plan with a --budget", said):
            self.problems.append(f"{name}: with {entry['device_bytes'] - free} bytes too few it ends with code {result.returncode}, saying '{said}'")
        elif f"the arena takes {arena} bytes" not in said:
            self.problems.append(f"{name}: it does not say what its arena takes: '{said}'")
        if "step 1" in result.stdout or "step 1" in said:
            self.problems.append(f"{name}: a step was run before it was refused")


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--plans", type=Path, required=True, help="what make_plans.py wrote")
    parser.add_argument("--steps", type=int, default=8, help="of each run; all but the first are one CUDA graph")
    options = parser.parse_args()
    budget = Budget(options)
    entries = plans.load(options.plans, "budget")
    for entry in entries:
        budget.test(entry)
    tools.fail_if(budget.problems, f"{len(entries)} plans keep to their budgets")


if __name__ == "__main__":
    main()
