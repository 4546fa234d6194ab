#!/usr/bin/env python3
"""Traces of vdnn-run on the GPU hold what the GPU did: every launch and copy of the plan, in submitted and in replayed steps. How much of the copies
was hidden is computed here again from the trace and compared with the report. Plans are those of make_plans.py's group bits."""

import collections
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import plans  # noqa: E402
import tools  # noqa: E402

STEPS = 10
TRACED = 8
SUBMITTED = 3


def unite(intervals):
    united = []
    for begin, end in sorted(intervals):
        if united and begin <= united[-1][1]:
            united[-1][1] = max(united[-1][1], end)
        else:
            united.append([begin, end])
    return united


def hidden(copies, kernels):
    """Lengths of the copies and of their part under kernels, in us."""
    copies, kernels = unite(copies), unite(kernels)
    under = sum(max(0, min(end, stop) - max(begin, start)) for begin, end in copies for start, stop in kernels)
    return sum(end - begin for begin, end in copies), under


def overlaps(times):
    """How many activities of a stream begin long before an earlier one has ended. Since sm_90, cuDNN's kernels are launched programmatically: the first
    blocks of one start, and wait for their inputs, while the last of the one before still drain. That is short, absolutely or beside what the two
    take; activities that run side by side, as with a missing order or a wrong stream, are not."""
    found, last = 0, None
    for begin, end in sorted(times):
        if last:
            shared = min(end, last[1]) - begin
            found += shared > 20 and shared > min(end - begin, last[1] - last[0]) / 2
        if not last or end > last[1]:
            last = (begin, end)
    return found


class Trace:
    def __init__(self, document):
        self.lanes = {event["tid"]: event["args"]["name"] for event in document["traceEvents"] if event["ph"] == "M"}
        self.steps = collections.defaultdict(list)
        for event in document["traceEvents"]:
            if event["ph"] == "X":
                self.steps[event["args"]["step"]].append(event)

    def problems(self):
        """What is wrong with it, beside the report."""
        found = []
        if sorted(self.steps) != list(range(TRACED)):
            found.append(f"steps {sorted(self.steps)} are traced, expected the first {TRACED}")
            return found
        expected = None
        for step, events in self.steps.items():
            replayed = {event["args"].get("replayed", False) for event in events}
            if replayed != {step >= SUBMITTED}:
                found.append(f"step {step}: replayed is {replayed}")
            strays = collections.Counter(event["name"] for event in events if "command" not in event["args"])
            if strays:
                found.append(f"step {step}: {strays.total()} of {len(events)} activities belong to no command: {strays.most_common(3)}")
            commands = {event["args"]["command"] for event in events if "command" in event["args"]}
            expected = expected or commands
            if commands != expected:
                found.append(f"step {step}: {len(commands)} commands, step 0 has {len(expected)}")
            # A stream does one thing after the other, but for the ends of kernels.
            lanes = collections.defaultdict(list)
            for event in events:
                lanes[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
            for lane, times in lanes.items():
                count = overlaps(times)
                if count > 0.01 * len(times):
                    found.append(f"step {step}: {count} of {len(times)} activities of '{self.lanes[lane]}' overlap")
        return found

    def hidden(self, direction):
        """Per replayed step, ns."""
        copied = under = 0
        steps = range(SUBMITTED, TRACED)
        lane = {"to_host": "d2h", "to_device": "h2d"}[direction]
        for step in steps:
            events = self.steps[step]
            times = [(event["ts"], event["ts"] + event["dur"]) for event in events if event["cat"] == "copy" and self.lanes[event["tid"]] == lane]
            kernels = [(event["ts"], event["ts"] + event["dur"]) for event in events if event["cat"] == "kernel"]
            more, less = hidden(times, kernels)
            copied, under = copied + more, under + less
        return copied * 1e3 / len(steps), under * 1e3 / len(steps)


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--plans", type=Path, required=True, help="what make_plans.py wrote")
    options = parser.parse_args()
    assert hidden([(0, 10), (20, 30)], [(5, 25)]) == (20, 10)
    assert hidden([(0, 10)], [(2, 5), (4, 8), (4, 6)]) == (10, 6)
    assert overlaps([(0, 100), (70, 170), (165, 175)]) == 0
    assert overlaps([(0, 100), (40, 140)]) == overlaps([(0, 100), (50, 80)]) == 1
    assert overlaps([(0, 1000), (100, 110), (200, 400)]) == 1
    build = tools.Tools(options.build_dir, ("vdnn-run",))
    problems = []
    entries = plans.load(options.plans, "bits")
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            name, path = entry["what"], Path(folder) / "trace.json"
            result = build.run("vdnn-run", options.plans / entry["plan"], "--steps", STEPS, "--trace", path, "--report", "json")
            report, trace = json.loads(result.stdout), Trace(json.loads(path.read_text()))
            notes = [line for line in result.stderr.splitlines() if "trace" in line]
            if notes:
                problems.append(f"{name}: {notes[0]}")
                continue
            problems += [f"{name}: {problem}" for problem in trace.problems()]
            copies = report["copies"]
            if copies["from"] != "trace" or not copies["replayed"]:
                problems.append(f"{name}: the report's times are from '{copies['from']}', replayed: {copies['replayed']}")
            for direction in ("to_host", "to_device"):
                mine, theirs = trace.hidden(direction), (copies[direction]["copy_ns"], copies[direction]["hidden_copy_ns"])
                print(f"  {name}, {direction}: copies {theirs[0] / 1e6:.3f} ms a step, hidden {theirs[1] / 1e6:.3f} ms")
                if any(abs(a - b) > 2000 + 0.001 * b for a, b in zip(mine, theirs)):
                    problems.append(f"{name}: {direction}: the trace says {mine} ns of copies and hidden, the report {theirs}")
            for cost in report["costs"][:8]:
                print(f"    {cost['ns'] / 1e6:8.3f} ms, predicted {cost['predicted_ns'] / 1e6:8.3f}  {cost['commands']:4}  {cost['kernel']} "
                      f"{cost['algorithm']}")
    tools.fail_if(problems, f"{len(entries)} traces hold what the GPU did")


if __name__ == "__main__":
    main()
