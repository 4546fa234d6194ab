#!/usr/bin/env python3
"""A convolutional net learns scikit-learn's handwritten digits; every way to run it gives the same bits.

It must reach 98 % on images that it has not seen. Then the same few epochs are run under every policy and both ways to synchronise, under the
smallest budget that works, with staged inputs, with poisoned memory, with random delays, and killed at a random step and resumed: the weights must be
the same bytes.
"""

import random
import shutil
import tempfile
from pathlib import Path

import digits_data
import tools
from digits_runs import STEP, TEST_BATCH, DigitsRuns


class Digits(DigitsRuns):
    """Makes its plans itself."""

    def __init__(self, options, folder):
        super().__init__(tools.Tools(options.build_dir), folder, folder)
        self.model = options.model
        digits_data.write(folder)

    def plan(self, name, *arguments):
        path = self.folder / f"{name}.vdnn"
        return path, self.tools.plan(self.model, path, *arguments)

    def plan_staged(self, base):
        """A plan whose images come in a step ahead, marked by hand: they are too small to be worth it. The weights are those of `base`."""
        step, commands, path = (self.folder / f"staged{end}" for end in (".step.mlir", ".mlir", ".vdnn"))
        self.tools.run("vdnn-opt", self.model, *STEP, "--emit=transfers", "-o", step)
        text = step.read_text()
        marked = text.replace('vdnn.name = "x", ', 'vdnn.name = "x", vdnn.staged, ')
        assert marked != text
        step.write_text(marked)
        self.tools.run("vdnn-opt", step, "--vdnn-lower-to-commands", "-o", commands)
        assert 'staging @"host:x.staging"' in commands.read_text()
        self.tools.run("vdnn-opt", commands, "-o", path)
        shutil.copy(base.with_suffix(".safetensors"), path.with_suffix(".safetensors"))
        return path


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--model", type=Path, default=tools.MODELS / "digits.onnx")
    parser.add_argument("--epochs", type=int, default=15, help="of the run whose accuracy counts")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the moment of the kill; printed")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        digits = Digits(options, Path(folder))
        base, summary = digits.plan("none", *STEP)
        infer, _ = digits.plan("infer", f"--batch={TEST_BATCH}")
        accuracy = digits.accuracy(infer, digits.train("trained", base, options.epochs))
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
                plan, found = digits.plan(f"{policy}-{sync}", *STEP, f"--policy={policy}", f"--sync={sync}")
                compare(f"{policy}, {sync}, {found['device_bytes'] / 2**20:.2f} MiB", digits.train(f"{policy}-{sync}", plan, epochs))
                if smallest is None or found["device_bytes"] < smallest[1]["device_bytes"]:
                    smallest = (policy, found, sync)
        policy, found, sync = smallest
        tight, _ = digits.plan("tight", *STEP, f"--policy={policy}", f"--sync={sync}", f"--budget={found['device_bytes']}")
        compare(f"{policy} within {found['device_bytes']} bytes", digits.train("tight", tight, epochs))
        if found["device_bytes"] >= summary["device_bytes"]:
            problems.append("no policy needs less memory than none")
        staged = digits.plan_staged(base)
        compare("staged inputs", digits.train("staged", staged, epochs))
        compare("staged inputs, poisoned memory and random delays", digits.train("staged-debug", staged, epochs, "--poison", "--jitter", 3))
        compare("poisoned memory", digits.train("poison", tight, epochs, "--poison"))
        compare("random delays", digits.train("jitter", tight, epochs, "--jitter", 3, "--verify-copies"))
        print(f"  kill with --seed {options.seed}")
        compare("killed and resumed", digits.kill_and_resume(tight, epochs, random.Random(options.seed)))
        compare("staged inputs, killed and resumed", digits.kill_and_resume(staged, epochs, random.Random(options.seed)))
    tools.fail_if(problems, "every run gives the same bits")


if __name__ == "__main__":
    main()
