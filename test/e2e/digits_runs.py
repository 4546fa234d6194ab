"""Runs of a plan of the digits net: training, accuracy, killed and resumed, interrupted."""

import re
import signal
import subprocess
import sys
import time

import numpy as np

BATCH = 64
TEST_BATCH = 60
STEP = (f"--batch={BATCH}", "--loss=cross_entropy", "--momentum=0.9", "--weight-decay=1e-4")  # of vdnn-opt


class DigitsRuns:
    """`data` holds what digits_data.py writes; results go to `folder`."""

    def __init__(self, tools, data, folder):
        self.tools, self.data, self.folder = tools, data, folder

    def arguments(self, plan, output, epochs, labels=None):
        return [plan, "--data", f"x={self.data}/train_x.npy", "--data", f"labels={labels or self.data / 'train_y.npy'}", "--shuffle", 1, "--seed",
                7, "--rate", 0.05, "--epochs", epochs, "--save", output]

    def train(self, name, plan, epochs, *extra):
        output = self.folder / f"{name}.trained.safetensors"
        self.tools.run("vdnn-run", *self.arguments(plan, output, epochs), *extra)
        return output

    def accuracy(self, plan, weights):
        """Of an inference plan on the images that were not trained on."""
        text = self.tools.run("vdnn-run", plan, "--weights", weights, "--data", f"x={self.data}/test_x.npy", "--labels",
                              f"{self.data}/test_y.npy").stdout
        found = re.search(r"accuracy\s+([0-9.]+)", text)
        if not found:
            sys.exit(f"vdnn-run printed no accuracy, but:\n{text}")
        return float(found[1])

    def kill_and_resume(self, plan, epochs, rng):
        """Kills a run once it has saved, at a random moment; the rest is done from what it saved last."""
        output = self.folder / "killed.trained.safetensors"
        command = self.tools.command("vdnn-run", *self.arguments(plan, output, epochs), "--save-every", 3, "--jitter", 1)
        longest = 0.3
        while longest > 1e-4:
            output.unlink(missing_ok=True)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not output.exists():
                time.sleep(0.001)
            time.sleep(rng.uniform(0, longest))
            process.send_signal(signal.SIGKILL)
            if process.wait() == -signal.SIGKILL:
                return self.train("resumed", plan, epochs, "--resume", output)
            longest /= 2  # the run was over already
        sys.exit("every run ended before it could be killed; train for more epochs")

    def interrupt(self, plan, after):
        """Ctrl-C once step `after` is printed: what was saved, and how many steps it holds."""
        output = self.folder / "interrupted.trained.safetensors"
        process = subprocess.Popen(self.tools.command("vdnn-run", *self.arguments(plan, output, 1000000), "--log-every", 1),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith(f"step {after} "):
                process.send_signal(signal.SIGINT)
        code = process.wait()
        text = "".join(lines[-20:])
        found = re.search(r"interrupted after step (\d+); go on with --resume", text)
        if code != 0 or not found or not output.exists():
            sys.exit(f"Ctrl-C after step {after}: ended with code {code}:\n{text}")
        return output, int(found[1])

    def bad_label(self, plan):
        """What vdnn-run says of a label that is no class; None where it says nothing of it."""
        labels = np.load(self.data / "train_y.npy")
        labels[len(labels) // 2] = 10
        np.save(self.folder / "bad_labels.npy", labels)
        result = self.tools.run("vdnn-run", *self.arguments(plan, self.folder / "bad.trained.safetensors", 1, self.folder / "bad_labels.npy"),
                                check=False)
        found = re.search(r"^error: .*label 10 of sample \d+.*$", result.stderr, re.MULTILINE)
        return found[0] if result.returncode == 1 and found else None
