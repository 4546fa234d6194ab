"""Runs 30 steps in one go; the same again, killed with SIGKILL as soon as a checkpoint is there; resumes; compares the files."""

import os
import signal
import subprocess
import sys
import time

plan, x, labels = sys.argv[1:]
folder = os.path.dirname(plan)
data = ["vdnn-run", plan, "--data", f"x={x}", "--data", f"labels={labels}", "--steps", "30"]
fresh = data + ["--shuffle", "1", "--rate", "0.5", "--rate-schedule", "cosine", "--save-every", "1", "--save"]
whole, part = os.path.join(folder, "unkilled.safetensors"), os.path.join(folder, "killed.safetensors")
subprocess.run(fresh + [whole], check=True, stdout=subprocess.DEVNULL)

run = subprocess.Popen(fresh + [part], stdout=subprocess.DEVNULL)
while not os.path.exists(part) and run.poll() is None:
    time.sleep(0.001)
run.send_signal(signal.SIGKILL)
print("killed" if run.wait() == -signal.SIGKILL else "ended before it was killed")

subprocess.run(data + ["--resume", part, "--save", part], check=True, stdout=subprocess.DEVNULL)
with open(whole, "rb") as a, open(part, "rb") as b:
    print("identical" if a.read() == b.read() else "different")
