#!/usr/bin/env python3
"""Makes the plans that the stages train and time of run.sh run on a GPU. Needs the compiler, no GPU.

    make_plans.py --output DIR [group ...]

Groups (default: all): digits, gradients and bits are for the stage train, bits for trace too, time for the stage time, budget and errors for those of
their names (errors takes digits too). Each writes its plans and GROUP.json, which says what they are. With measured times the plans of time are made again once they were profiled where the GPU is:

    vdnn-profile DIR/resnet50-b256-tf32-none.vdnn -o resnet50.json
    make_plans.py --output DIR --profile resnet50.json -- time

and once more after they have told the profiles how fast their copies are, and how much slower their kernels are than alone:

    vdnn-run DIR/resnet50-b256-tf32-none.vdnn --steps 100 --rate 1e-6 --update-profile resnet50.json
    vdnn-run DIR/vgg16-b256-fp32-all.vdnn --steps 8 --rate 1e-6 --update-profile vgg16-fp32.json
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import digits_data  # noqa: E402
import digits_runs  # noqa: E402
import tools  # noqa: E402
from decision_names import decision_names  # noqa: E402

# Network: batch.
GRADIENTS = {"resnet50": 8, "vgg16": 2, "alexnet": 4, "googlenet": 4, "overfeat": 2}
# The last has a host arena that takes many page tables.
BUDGETED = {"digits": 64, "resnet50": 32, "vgg16": 256}
TRAINING = ("--loss=cross_entropy", "--momentum=0.9", "--weight-decay=1e-4")
# Network, batch, precision, policy.
TIMED = (("resnet50", 256, "bf16", "none"), ("resnet50", 256, "tf32", "none"), ("vgg16", 256, "bf16", "none"), ("vgg16", 256, "tf32", "none"),
         ("vgg16", 256, "fp32", "none"), ("vgg16", 256, "fp32", "all"), ("vgg16", 256, "fp32", "conv"), ("googlenet", 256, "bf16", "none"),
         ("googlenet", 256, "tf32", "none"), ("alexnet", 512, "bf16", "none"), ("alexnet", 512, "tf32", "none"))


class Maker:
    def __init__(self, options):
        self.options = options
        self.tools = tools.Tools(options.build_dir, ("vdnn-opt",))
        self.output = options.output
        self.output.mkdir(parents=True, exist_ok=True)

    def plan(self, name, network, *arguments, precision="fp32", profile=None):
        """The plan's file name, and its summary."""
        target = [f"--device={profile or self.options.device}"]
        if self.options.device == "cuda":
            target.append(f"--precision={precision}")
        summary = self.tools.plan(self.options.models / f"{network}.onnx", self.output / f"{name}.vdnn", *target, *arguments)
        print(f"  {name}: {summary['device_bytes'] / 2**20:.2f} MiB, predicted {summary['step_ns'] / 1e6:.3f} ms", flush=True)
        return f"{name}.vdnn", summary

    def write(self, group, content):
        (self.output / f"{group}.json").write_text(json.dumps(content, indent=1) + "\n")

    def networks(self, wanted):
        """Those whose models are there."""
        for network in wanted:
            if (self.options.models / f"{network}.onnx").exists():
                yield network
            else:
                print(f"  there is no {network}.onnx in '{self.options.models}': left out")

    def digits(self):
        data = self.output / "digits"
        data.mkdir(exist_ok=True)
        digits_data.write(data)
        infer, _ = self.plan("digits-infer", "digits", f"--batch={digits_runs.TEST_BATCH}")
        plans, smallest = [], None
        for policy in ("none", "all", "conv"):
            for sync in ("event", "layer"):
                how = (f"--policy={policy}", f"--sync={sync}")
                plan, summary = self.plan(f"digits-{policy}-{sync}", "digits", *digits_runs.STEP, *how)
                plans.append({"plan": plan, "what": f"{policy}, {sync}"})
                if smallest is None or summary["device_bytes"] < smallest[1]:
                    smallest = how, summary["device_bytes"]
        how, budget = smallest
        plan, _ = self.plan("digits-tight", "digits", *digits_runs.STEP, *how, f"--budget={budget}")
        plans.append({"plan": plan, "what": f"within {budget} bytes"})
        self.write("digits", {"infer": infer, "plans": plans})

    def gradients(self):
        import steps  # PyTorch, which only this group needs

        result = []
        for network in self.networks(GRADIENTS):
            relus, pools = decision_names(self.options.models / f"{network}.onnx")
            for precision in ("fp32", "tf32", "bf16") if self.options.device == "cuda" else ("fp32",):
                plan, _ = self.plan(f"{network}-gradients-{precision}", network, f"--batch={GRADIENTS[network]}", *steps.STEP, precision=precision)
                result.append({"plan": plan, "network": network, "batch": GRADIENTS[network], "precision": precision, "relus": relus,
                               "pools": pools})
        self.write("gradients", result)

    def bits(self):
        plans = []
        for network in self.networks(["resnet50"]):
            for policy in ("none", "all", "conv"):
                plan, _ = self.plan(f"{network}-b32-{policy}", network, "--batch=32", *TRAINING, f"--policy={policy}")
                plans.append({"plan": plan, "what": f"{network}, batch 32, {policy}"})
        self.write("bits", plans)

    def budget(self):
        profile = self.merged_profile()
        result = []
        for network in self.networks(BUDGETED):
            how = (f"--batch={self.options.batch or BUDGETED[network]}", *TRAINING, "--policy=all")
            _, least = self.plan(f"{network}-free", network, *how, profile=profile)
            for path in self.output.glob(f"{network}-free.*"):
                path.unlink()
            plan, summary = self.plan(f"{network}-budget", network, *how, f"--budget={least['device_bytes']}", profile=profile)
            result.append({"plan": plan, "budget": least["device_bytes"], "device_bytes": summary["device_bytes"],
                           "device_arena": summary["device_arena"]})
        self.write("budget", result)

    def errors(self):
        """A plan that is good, and some that differ from it in what no machine has."""
        plan, summary = self.plan("digits-good", "digits", *digits_runs.STEP, "--policy=all", profile=self.merged_profile())
        good = self.output / "good.mlir"
        self.tools.plan(self.options.models / "digits.onnx", good, *digits_runs.STEP, "--policy=all", f"--device={self.options.device}")
        text = good.read_text()
        fingerprint = re.search(r'target_fingerprint = "([^"]*)"', text)[1]
        last = max(re.finditer(r"host at (\d+) bytes (\d+)", text), key=lambda match: int(match[1]))
        far = 1 << 44
        edits = {"cudnn": (fingerprint, re.sub(r"^cudnn [0-9.]+", "cudnn 9.1.2", fingerprint)),
                 "gpu": (fingerprint, re.sub(r"[^;]*$", " Imaginary GPU, 1 multiprocessors", fingerprint)),
                 "host": (last[0], f"host at {far} bytes {last[2]}")}
        result = {"plan": plan, "device_arena": summary["device_arena"], "overhead": summary["overhead_bytes"]}
        for name, (old, new) in edits.items():
            source = self.output / f"errors-{name}.mlir"
            source.write_text(re.sub(r"host_arena = \d+", f"host_arena = {far + int(last[2])}", text.replace(old, new)) if name == "host"
                              else text.replace(old, new))
            result[name] = f"errors-{name}.vdnn"
            self.tools.run("vdnn-opt", source, "-o", self.output / result[name])
            source.unlink()
        for path in self.output.glob("good.*"):
            path.unlink()
        self.write("errors", result)

    def time(self):
        profile = self.merged_profile()
        small = self.with_workspace(profile, 4 << 30)
        available = set(self.networks(dict.fromkeys(network for network, *_ in TIMED)))
        result = []
        for network, batch, precision, policy in TIMED:
            if network not in available or (self.options.device == "cpu" and precision != "fp32"):
                continue
            batch = self.options.batch or batch
            name = f"{network}-b{batch}-{precision}-{policy}"
            plan, _ = self.plan(name, network, f"--batch={batch}", *TRAINING, f"--policy={policy}", precision=precision,
                                profile=profile if policy == "none" else small)
            result.append({"plan": plan, "name": name, "network": network, "batch": batch, "precision": precision, "policy": policy})
        self.write("time", result)

    def with_workspace(self, profile, most):
        """The profile without kernels that need more workspace, where there are others that any plan may run: a plan that offloads should not spend on
        workspaces what it saves."""
        if profile is None:
            return None
        content = json.loads(profile.read_text())
        for signature, kernels in content["kernels"].items():
            small = [kernel for kernel in kernels if kernel["workspace_bytes"] <= most]
            if any(not kernel.get("reduced_precision") and not kernel.get("nondeterministic") for kernel in small):
                content["kernels"][signature] = small
        path = self.output / "profile-small.json"
        path.write_text(json.dumps(content))
        return path

    def merged_profile(self):
        """One profile that holds the kernels of all."""
        merged = None
        for path in self.options.profile:
            profile = json.loads(path.read_text())
            if merged is None:
                merged = profile
            elif merged["fingerprint"] != profile["fingerprint"]:
                sys.exit(f"'{path}' was measured with '{profile['fingerprint']}', '{self.options.profile[0]}' with '{merged['fingerprint']}'; "
                         "give profiles of one device and its libraries")
            else:
                merged["kernels"].update(profile["kernels"])
                merged["overhead_bytes"] = max(merged["overhead_bytes"], profile["overhead_bytes"])
                for key, rate in profile["link"].items():  # copies of whole plans are slower than those beside single kernels
                    if key.endswith("under_compute_bytes_per_second"):
                        merged["link"][key] = min(merged["link"].get(key, rate), rate)
        if merged is None:
            return None
        path = self.output / "profile.json"
        path.write_text(json.dumps(merged))
        return path


GROUPS = ("digits", "gradients", "bits", "budget", "errors", "time")


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("groups", nargs="*", metavar="group")
    parser.add_argument("--output", type=Path, required=True, help="folder for the plans")
    parser.add_argument("--models", type=Path, default=tools.MODELS, help="folder of the .onnx files; those that it lacks are left out")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try the stages where there is no GPU")
    parser.add_argument("--profile", type=Path, nargs="+", default=[], help="plan the group time from measured times")
    parser.add_argument("--batch", type=int, help="of the group time, instead of each plan's own")
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        sys.exit(f"unknown group '{unknown.pop()}'; expected some of {', '.join(GROUPS)}")
    maker = Maker(options)
    for group in options.groups or GROUPS:
        print(f"{group}:", flush=True)
        getattr(maker, group)()


if __name__ == "__main__":
    main()
