#!/usr/bin/env python3
"""Breaks real plans one event or one range at a time; every harmful mutant must be refused by the checker.

For several networks, policies and sync modes: plan, then run vdnn-mutate, which judges the harm of each mutant by replaying
interleavings, independently of the checker, and prints the counts.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NETS = [("digits", 16), ("alexnet", 2), ("resnet50", 2)]
POLICIES = ["none", "all", "conv"]
SYNCS = ["event", "layer"]
PLANS = [(*plan, "--device=titanx") for plan in itertools.product(NETS, POLICIES, SYNCS)]
# With bf16 copies of parameters, which live from step to step too.
PLANS += [(("resnet50", 2), "all", "event", "--device=h200", "--precision=bf16")]
# And with a parameter that no command touches, beside offloads on the host.
PLANS += [(("digits", 16), "all", "event", "--device=h200", "--precision=bf16", "--freeze=4.weight")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--mutants", type=int, default=30, help="mutants per plan, sampled by seed")
    args = parser.parse_args()
    build = (ROOT / args.build_dir).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for (net, batch), policy, sync, *target in PLANS:
            plan = Path(work) / f"{net}-{policy}-{sync}.vdnn"
            subprocess.run(
                [build / "bin/vdnn-opt", ROOT / f"test/models/{net}.onnx", f"--batch={batch}", "--loss=cross_entropy",
                 f"--policy={policy}", f"--sync={sync}", *target, "--summary=none", "-o", plan],
                check=True)
            result = subprocess.run([build / "test-bin/vdnn-mutate", "--max-mutants", str(args.mutants), "--seconds", "15", plan],
                                    capture_output=True, text=True)
            print(f"{net:10} {policy:5} {sync:6} {target[-1]:16} {result.stdout.strip() or result.stderr.strip()}", flush=True)
            failed += result.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
