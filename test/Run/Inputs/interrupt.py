"""Starts a long run, sends SIGINT once it has printed a step, and prints what it says then."""

import signal
import subprocess
import sys

plan, x, labels, save = sys.argv[1:]
run = subprocess.Popen(["vdnn-run", plan, "--data", f"x={x}", "--data", f"labels={labels}", "--steps", "100000000",
                        "--log-every", "1", "--save", save], stdout=subprocess.PIPE, text=True)
while not run.stdout.readline().startswith("step"):
    pass
run.send_signal(signal.SIGINT)
print(run.communicate()[0])
print("exit code", run.returncode)
