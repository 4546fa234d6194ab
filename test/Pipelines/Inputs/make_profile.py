"""Writes a profile for the GPU that a plan was made for, with kernels as if measured.

make_profile.py BUILTIN.json PLAN.mlir PROFILE.json SIGNATURE=ALGORITHM:NS[!],...  (!: nondeterministic) ...
"""

import json
import re
import sys


def main():
    device, plan, output = sys.argv[1:4]
    with open(device) as file:
        profile = json.load(file)
    with open(plan) as file:
        profile["fingerprint"] = re.search(r'target_fingerprint = "([^"]*)"', file.read()).group(1)
    profile["kernels"] = {}
    for argument in sys.argv[4:]:
        signature, ways = argument.rsplit("=", 1)
        profile["kernels"][signature] = [measured(way) for way in ways.split(",")]
    with open(output, "w") as file:
        json.dump(profile, file)


def measured(way):
    algorithm, ns = way.rstrip("!").rsplit(":", 1)
    entry = {"algorithm": algorithm, "workspace_bytes": 33554432, "ns": int(ns)}
    return {**entry, "nondeterministic": True} if way.endswith("!") else entry


main()
