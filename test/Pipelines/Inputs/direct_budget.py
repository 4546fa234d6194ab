"""Runs a vdnn-opt command with --inputs=direct, then with --inputs=staged under the budget that the first one needs."""

import json
import subprocess
import sys

command = sys.argv[1:]
direct = subprocess.run([*command, "--inputs=direct", "--summary=json"], capture_output=True, text=True, check=True)
summary = json.loads([line for line in direct.stderr.splitlines() if line.startswith("{")][-1])
assert summary["staged_bytes"] == 0, summary
budget = f"--budget={summary['device_bytes']}"
subprocess.run([*command, "--inputs=direct", budget], capture_output=True, check=True)
print("fits with --inputs=direct", flush=True)
staged = subprocess.run([*command, "--inputs=staged", budget], text=True, stderr=sys.stdout)
assert staged.returncode == 3, staged.returncode
