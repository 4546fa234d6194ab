"""Plans with the budget that an error message named, and with one byte less: the first fits, the second exits with 3."""

import re
import subprocess
import sys

message, command = open(sys.argv[1]).read(), sys.argv[2:]
smallest = int(re.search(r"needs at least (\d+) bytes", message).group(1))
for budget, expected in ((smallest, 0), (smallest - 1, 3)):
    code = subprocess.run(command + [f"--budget={budget}"], stderr=subprocess.DEVNULL).returncode
    if code != expected:
        sys.exit(f"--budget={budget} exits with {code}, expected {expected}")
