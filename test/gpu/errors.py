#!/usr/bin/env python3
"""What vdnn-run says when something is missing or goes wrong: one clear message with the cause and what to do, exit status 1, and no file left behind.
Plans are those of make_plans.py's groups errors and digits; nothing else may use the GPU. With --device cpu only what needs no GPU is tested.

plans     made for another cuDNN or another GPU, or with a host arena that no machine has
memory    the GPU has no room for the arena, or not even for a context
library   libcudnn is missing
saves     Ctrl-C keeps what was reached; SIGKILL during a save leaves a whole checkpoint, from which the run ends with the same bits
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import plans  # noqa: E402
import tools  # noqa: E402
from digits_runs import DigitsRuns  # noqa: E402

KILLS = 12


class Errors:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tools = tools.Tools(options.build_dir, ("vdnn-run",))
        self.problems = []

    def expect(self, what, plan, *patterns, environment=None):
        """A run of the plan fails, its message matches all patterns, and nothing is left in its folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            command = self.tools.command("vdnn-run", plan, "--steps", 2, "--save", f"{folder}/net.safetensors", "--trace", f"{folder}/trace.json")
            result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
            left = sorted(os.listdir(folder))
        lines = result.stderr.strip().splitlines()
        said = "\n".join(line for line in lines if not line.startswith("note: "))
        print(f"  {what}: {said}")
        missing = [pattern for pattern in patterns if not re.search(pattern, said)]
        if result.returncode != 1 or not said.startswith("error: ") or said.count("error: ") != 1 or missing or left:
            self.problems.append(f"{what}: ended with code {result.returncode}, left {left}, said '{said}', which lacks {missing}")

    def plans(self):
        made = plans.load(self.options.plans, "errors")
        folder = self.options.plans
        self.expect("another cuDNN", folder / made["cudnn"], r"P11: .*made for 'cudnn 9\.1\.2;.*this device is 'cudnn .*plan again on this machine")
        self.expect("another GPU", folder / made["gpu"], r"P11: .*made for '.*Imaginary GPU.*this device is '.*plan again on this machine")
        self.expect("no host memory", folder / made["host"], r"host arena of .*TiB", r"free some|free host memory", r"--host-budget")

    def memory(self):
        from gpu_memory import GpuMemory

        plan = self.options.plans / plans.load(self.options.plans, "errors")["plan"]
        memory = GpuMemory()
        try:
            memory.leave(200 << 20)
            self.expect("no room for a context", plan, r"no room for a context", r"MiB are free", r"end what else uses it")
            memory.release()
            summary = plans.load(self.options.plans, "errors")
            memory.leave(summary["overhead"] + summary["device_arena"] - (16 << 20))
            self.expect("no room for the arena", plan, r"does not fit", rf"arena takes {summary['device_arena']} bytes", r"are free",
                        r"end what else uses the device, or plan with a --budget")
        finally:
            memory.release()

    def library(self):
        """The backend asks for a cuDNN that no machine has."""
        name = "libvdnn_cuda.so"
        data = (self.options.build_dir / "lib" / name).read_bytes()
        wanted = b"\0libcudnn.so.9\0"
        if data.count(wanted) != 1:
            sys.exit(f"{name} names libcudnn.so.9 {data.count(wanted)} times, expected once")
        folder = self.folder / "backend"
        folder.mkdir()
        (folder / name).write_bytes(data.replace(wanted, b"\0libcudnn.so.0\0"))
        self.expect("no libcudnn", self.options.plans / plans.load(self.options.plans, "errors")["plan"], r"cannot load the 'cuda' backend: libcudnn\.so\.0",
                    r"LD_LIBRARY_PATH", environment={"VDNN_PLUGIN_PATH": str(folder)})

    def saves(self):
        plan = self.options.plans / plans.load(self.options.plans, "digits")["plans"][0]["plan"]
        runs = DigitsRuns(self.tools, self.options.plans / "digits", self.folder)
        saved, steps = runs.interrupt(plan, 20)
        whole = self.folder / "whole.safetensors"
        self.until(runs, plan, steps, whole)
        if saved.read_bytes() != whole.read_bytes():
            self.problems.append(f"Ctrl-C after step {steps}: what was saved differs from a run of {steps} steps")
        self.leftovers("Ctrl-C", saved)
        # Each run is killed while it does little but save, and the next goes on from what it left.
        output, found, begin = self.folder / "killed.safetensors", 0, 0.0
        for kill in range(KILLS):
            resume = ["--resume", output] if output.exists() else []
            command = self.tools.command("vdnn-run", *steps_of(runs.arguments(plan, output, 1), 1000000), "--save-every", 1, *resume)
            before = output.stat().st_mtime_ns if output.exists() else 0
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            begin = time.monotonic()
            while process.poll() is None and (not output.exists() or output.stat().st_mtime_ns == before) and time.monotonic() - begin < 60:
                time.sleep(0.001)
            time.sleep(0.0037 * kill)
            process.send_signal(signal.SIGKILL)
            if process.wait() != -signal.SIGKILL:
                self.problems.append(f"killed run {kill} had ended before: {process.stderr.read().strip()}")
                return
            found += bool(list(self.folder.glob("killed.safetensors.*")))
        text = self.tools.run("vdnn-run", *steps_of(runs.arguments(plan, self.folder / "none.safetensors", 1), 1), "--resume", output).stdout
        step = int(re.search(r"resumed after step (\d+)", text)[1])
        self.until(runs, plan, step, whole)
        print(f"  killed {KILLS} times, {found} with the next checkpoint begun; step {step}")
        if output.read_bytes() != whole.read_bytes():
            self.problems.append(f"SIGKILL: the checkpoint of step {step} differs from a run of {step} steps without a kill")

    def until(self, runs, plan, steps, output):
        self.tools.run("vdnn-run", *steps_of(runs.arguments(plan, output, 1), steps))

    def leftovers(self, what, saved):
        left = [path.name for path in self.folder.glob(saved.name + ".*")]
        if left:
            self.problems.append(f"{what}: {left} is left")


def steps_of(arguments, steps):
    """Those of DigitsRuns, with a number of steps instead of epochs."""
    place = arguments.index("--epochs")
    return [*arguments[:place], "--steps", steps, *arguments[place + 2 :]]


GROUPS = ("plans", "memory", "library", "saves")


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--plans", type=Path, required=True, help="what make_plans.py wrote")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: only saves, with plans made for it")
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        sys.exit(f"unknown group '{unknown.pop()}'; expected some of {', '.join(GROUPS)}")
    folder = Path(tempfile.mkdtemp())
    try:
        errors = Errors(options, folder)
        for group in options.groups or (GROUPS if options.device == "cuda" else ("saves",)):
            print(f"{group}:", flush=True)
            getattr(errors, group)()
    finally:
        shutil.rmtree(folder)
    tools.fail_if(errors.problems, "every error is a clear one")


if __name__ == "__main__":
    main()
