#!/usr/bin/env python3
"""A convolutional net learns scikit-learn's handwritten digits; every way to run it gives the same bits.

It must reach 98 % on images that it has not seen. Then the same few epochs are run under every policy and both ways to synchronise, under the
smallest budget that works, with poisoned memory, with random delays, and killed at a random step and resumed: the weights must be the same bytes.
"""

import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import digits_data
import tools

BATCH = 64
TEST_BATCH = 60


class Digits:
    def __init__(self, options, folder):
        self.tools = tools.Tools(options.build_dir)
        self.model = options.model
        self.folder = folder
        digits_data.write(folder)

    def plan(self, name, *arguments):
        path = self.folder / f"{name}.vdnn"
        step = (f"--batch={BATCH}", "--loss=cross_entropy", "--momentum=0.9", "--weight-decay=1e-4")
        return path, self.tools.plan(self.model, path, *step, *arguments)

    def arguments(self, plan, output, epochs):
        return [plan, "--data", f"x={self.folder}/train_x.npy", "--data", f"labels={self.folder}/train_y.npy", "--shuffle", 1, "--seed", 7,
                "--rate", 0.05, "--epochs", epochs, "--save", output]

    def train(self, name, plan, epochs, *extra):
        output = self.folder / f"{name}.trained.safetensors"
        self.tools.run("vdnn-run", *self.arguments(plan, output, epochs), *extra)
        return output

    def accuracy(self, weights):
        plan = self.folder / "infer.vdnn"
        self.tools.plan(self.model, plan, f"--batch={TEST_BATCH}")
        text = self.tools.run("vdnn-run", plan, "--weights", weights, "--data", f"x={self.folder}/test_x.npy", "--labels",
                              f"{self.folder}/test_y.npy").stdout
        found = re.search(r"accuracy\s+([0-9.]+)", text)
        if not found:
            sys.exit(f"vdnn-run printed no accuracy, but:\n{text}")
        return float(found[1])

    def kill_and_resume(self, plan, epochs, rng):
        """Kills a run once it has saved, at a random moment; the rest is done from what it saved last."""
        output = self.folder / "killed.trained.safetensors"
        process = subprocess.Popen(self.tools.command("vdnn-run", *self.arguments(plan, output, epochs), "--save-every", 3, "--jitter", 1),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not output.exists():
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            print("  (the run ended before it was killed)")
        return self.train("resumed", plan, epochs, "--resume", output)


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--model", type=Path, default=tools.MODELS / "digits.onnx")
    parser.add_argument("--epochs", type=int, default=15, help="of the run whose accuracy counts")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the moment of the kill; printed")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        digits = Digits(options, Path(folder))
        base, summary = digits.plan("none")
        accuracy = digits.accuracy(digits.train("trained", base, options.epochs))
        print(f"test accuracy after {options.epochs} epochs: {accuracy:.4f}")
        if accuracy < 0.98:
            problems.append(f"test accuracy is {accuracy:.4f}, expected at least 0.98")

        epochs = 2
        reference = digits.train("reference", base, epochs).read_bytes()

        def compare(what, weights):
            same = weights.read_bytes() == reference
            print(f"  {what}: {'same bits' if same else 'DIFFERENT'}")
            if not same:
                problems.append(f"{what}: the weights differ from those of the unplanned run")

        smallest = None
        for policy in ("none", "all", "conv"):
            for sync in ("event", "layer"):
                plan, found = digits.plan(f"{policy}-{sync}", f"--policy={policy}", f"--sync={sync}")
                compare(f"{policy}, {sync}, {found['device_bytes'] / 2**20:.2f} MiB", digits.train(f"{policy}-{sync}", plan, epochs))
                if smallest is None or found["device_bytes"] < smallest[1]["device_bytes"]:
                    smallest = (policy, found, sync)
        policy, found, sync = smallest
        tight, _ = digits.plan("tight", f"--policy={policy}", f"--sync={sync}", f"--budget={found['device_bytes']}")
        compare(f"{policy} within {found['device_bytes']} bytes", digits.train("tight", tight, epochs))
        if found["device_bytes"] >= summary["device_bytes"]:
            problems.append("no policy needs less memory than none")
        compare("poisoned memory", digits.train("poison", tight, epochs, "--poison"))
        compare("random delays", digits.train("jitter", tight, epochs, "--jitter", 3, "--verify-copies"))
        print(f"  kill with --seed {options.seed}")
        compare("killed and resumed", digits.kill_and_resume(tight, epochs, random.Random(options.seed)))
    tools.fail_if(problems, "every run gives the same bits")


if __name__ == "__main__":
    main()
