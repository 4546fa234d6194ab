"""Fills a profile with the kernels that a plan runs, all as long, so that together they take a fraction of its step.

fill_profile.py PLAN.mlir PROFILE.json FRACTION: the profile holds the device's fingerprint and no kernels; vdnn-run says which it lacks.
"""

import json
import re
import subprocess
import sys


def run(*arguments):
    return subprocess.run(["vdnn-run", *arguments], capture_output=True, text=True)


def main():
    plan, path, fraction = sys.argv[1:4]
    step = json.loads(run(plan, "--steps", "6", "--report", "json").stdout)["median_step_ns"]
    with open(path) as file:
        profile = json.load(file)
    ways = []
    while lacking := re.search(r"the profile lacks '(.*)' by '(.*?)', which", run(plan, "--steps", "16", "--update-profile", path).stderr):
        ways.append({"algorithm": lacking[2], "workspace_bytes": 0, "ns": 0})
        profile["kernels"].setdefault(lacking[1], []).append(ways[-1])
        with open(path, "w") as file:
            json.dump(profile, file)
    with open(plan) as file:
        launches = file.read().count("vdnn.cmd.launch")
    for way in ways:
        way["ns"] = int(step * float(fraction) / launches)
    with open(path, "w") as file:
        json.dump(profile, file, indent=1)


if __name__ == "__main__":
    main()
