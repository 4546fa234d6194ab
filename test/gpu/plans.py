"""What make_plans.py wrote of a group of plans."""

import json
import sys


def load(folder, group):
    """The group's description; ends the script where there is none."""
    path = folder / f"{group}.json"
    if not path.exists():
        sys.exit(f"there is no '{path}'; make it with make_plans.py --output {folder} {group}")
    return json.loads(path.read_text())
