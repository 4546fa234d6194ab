#!/usr/bin/env python3
"""Times the plans of make_plans.py's group time, and beside each PyTorch's step on the same GPU (bench/torch_peer.py). Prints a table.

Bytes are those of the whole device in use after the last step, of whatever kind, so nothing else should run there. vdnn-run's step includes copying the
images from the host and reading the loss; PyTorch's images lie on the device. Plans that keep everything on the device are compared with PyTorch's eager
and compiled step, those that offload with save_on_cpu. Predicted is what the plan says of its own step, and the error is relative to what was measured.
Wall is from the start of one step to that of the next.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import plans  # noqa: E402
import tools  # noqa: E402

# In the order in which they are measured: what takes long comes last.
PEERS = ("eager", "save_on_cpu", "compile_graphs", "compile")
# Networks that PyTorch compiles at once: their memory must fit together.
COMPILED_AT_ONCE = 4
# The learning rate of all. Networks must not diverge: with NaNs VGG-16 takes a tenth less time in bf16.
RATE = 1e-6


def is_compared(entry, peer):
    """Whether a peer says something about a plan. In fp32 there is nothing to gain from compiling."""
    if peer.startswith("compile") and entry["precision"] == "fp32":
        return False
    return (peer == "save_on_cpu") != (entry["policy"] == "none")


def layout_of(entry):
    """The faster one; in fp32 cuDNN's search for algorithms takes minutes where channels are last."""
    return "contiguous" if entry["precision"] == "fp32" else "channels_last"


class Peers:
    """PyTorch's steps, each measured once in a process of its own."""

    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.seconds
        self.results = {}
        self.notes = []

    def measure(self, entry, peer):
        """The measured step, or None where there was no time or PyTorch failed."""
        key = entry["network"], entry["batch"], entry["precision"], peer, layout_of(entry)
        if key not in self.results:
            self.results[key] = self.run(*key)
        return self.results[key]

    def command(self, network, batch, precision, peer, layout, steps, warm_up):
        return [sys.executable, str(tools.ROOT / "bench" / "torch_peer.py"), "--network", network, "--batch", str(batch), "--precision", precision,
                "--peer", peer, "--layout", layout, "--steps", str(steps), "--warm-up", str(warm_up), "--rate", str(RATE), "--device", self.options.device]

    def compile(self, entries, peer):
        """Fills PyTorch's cache of compiled code, the networks side by side: that takes minutes, one after the other."""
        wanted = {(entry["network"], entry["batch"], entry["precision"], peer, layout_of(entry)) for entry in entries}
        share = str(max(1, (os.cpu_count() or 1) // COMPILED_AT_ONCE))
        processes = [subprocess.Popen([*self.command(*key, 1, 1), "--no-search"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": share}) for key in sorted(wanted)]
        for process in processes:
            try:
                process.wait(max(1, self.deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()

    def run(self, network, batch, precision, peer, layout):
        what = f"{network}, batch {batch}, {precision}, {peer}, {layout}"
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.notes.append(f"{what}: no time left (--seconds)")
            return None
        # A step of save_on_cpu takes seconds.
        steps = (max(3, self.options.peer_steps // 4), 2) if peer == "save_on_cpu" else (self.options.peer_steps, 5)
        try:
            result = subprocess.run(self.command(network, batch, precision, peer, layout, *steps), capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            self.notes.append(f"{what}: stopped, no time left (--seconds)")
            return None
        if result.returncode != 0:
            self.notes.append(f"{what}: PyTorch failed: {result.stderr.strip().splitlines()[-1:]}")
            return None
        return json.loads(result.stdout.splitlines()[-1])


def our_time(build, options, entry):
    """vdnn-run's report; None and its words where it failed."""
    result = build.run("vdnn-run", options.plans / entry["plan"], "--steps", options.steps, "--rate", RATE, "--report", "json", check=False)
    if result.returncode != 0:
        return None, f"{entry['name']}: {result.stderr.strip()}"
    report = json.loads(result.stdout)
    if options.device == "cuda" and "device_bytes_in_use" not in report:
        return None, f"{entry['name']}: vdnn-run does not report what the device holds"
    kept = ("median_step_ns", "median_wall_ns", "predicted_step_ns", "device_bytes_in_use", "device_arena_bytes", "host_arena_bytes", "bytes_to_host_per_step",
            "bytes_to_device_per_step")
    times = sorted(report["step_ns"][3:] or report["step_ns"])
    return {**{key: report[key] for key in kept if key in report}, "fastest_ns": times[0], "slowest_ns": times[-1]}, None


HEADER = ("plan", "ms", "wall", "predicted", "error", *(f"/{peer}" for peer in PEERS), "GiB", "/peer")


def cells(row):
    """A line of the table; what was not measured is '-'. The last column: of the first peer's bytes."""
    ours = row["ours"] or {}

    def number(value, form):
        return "-" if value is None else format(value, form)

    def milliseconds(name):
        return ours[name] / 1e6 if ours.get(name) else None

    ms, predicted, used = milliseconds("median_step_ns"), milliseconds("predicted_step_ns"), ours.get("device_bytes_in_use")
    peers = [row[peer]["median_ms"] if row.get(peer) else None for peer in PEERS]
    bytes_of_peer = next((row[peer]["bytes_in_use"] for peer in PEERS if row.get(peer) and "bytes_in_use" in row[peer]), None)
    return [row["name"], number(ms, ".2f"), number(milliseconds("median_wall_ns"), ".2f"), number(predicted, ".2f"),
            number(predicted / ms - 1 if ms and predicted else None, "+.1%"),
            *(f"{ms / peer:.3f} of {peer:.1f}" if ms and peer else "-" for peer in peers),
            number(used / 2**30 if used else None, ".2f"),
            f"{used / bytes_of_peer:.2f} of {bytes_of_peer / 2**30:.1f}" if used and bytes_of_peer else "-"]


def print_table(rows):
    table = [HEADER, *(cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for line in table:
        print("  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))]))


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="plan", help="whose names begin so (default: all)")
    parser.add_argument("--plans", type=Path, required=True, help="what make_plans.py wrote")
    parser.add_argument("--output", type=Path, help="the same as JSON")
    parser.add_argument("--steps", type=int, default=30, help="of vdnn-run; the first three do not count")
    parser.add_argument("--peer-steps", type=int, default=20, help="of PyTorch, after warm-up")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, help="what to compare with (default: all)")
    parser.add_argument("--seconds", type=float, default=480, help="no step of PyTorch is measured after them")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try the script, with plans made for it")
    options = parser.parse_args()
    entries = [entry for entry in plans.load(options.plans, "time") if not options.names or entry["name"].startswith(tuple(options.names))]
    if not entries:
        sys.exit(f"no plan of '{options.plans}' has a name that begins with one of: {' '.join(options.names)}")
    build = tools.Tools(options.build_dir, ("vdnn-run",))
    peers, rows, problems = Peers(options), [], []

    def write():
        if options.output:
            options.output.write_text(json.dumps({"rows": rows, "notes": peers.notes}, indent=1) + "\n")

    for entry in entries:
        ours, problem = our_time(build, options, entry)
        problems += [problem] if problem else []
        rows.append({**entry, "ours": ours})
        write()
    # Peer by peer, so that what takes long to compile is what is left out.
    for peer in options.peers:
        compared = [row for row in rows if is_compared(row, peer)]
        for first in range(0, len(compared), COMPILED_AT_ONCE):
            some = compared[first:first + COMPILED_AT_ONCE]
            if peer.startswith("compile"):
                peers.compile(some, peer)
            for row in some:
                row[peer] = peers.measure(row, peer)
                write()
    print_table(rows)
    for note in peers.notes:
        print(f"note: {note}")
    tools.fail_if(problems, f"{len(rows)} plans timed")


if __name__ == "__main__":
    main()
