#!/usr/bin/env python3
"""The house rules that a script can check. Prints every violation; exits 1 if there is one."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SELF = "test/tidy/tidy.py"
MAX_LINES = 500
# Longer files that existed when the limit was set; none may grow, none may be added.
RATCHET = {"test/unit/Check/InvariantsTest.cpp": 761, "test/unit/Check/Oracle.cpp": 538}

# Folder -> what its files may not include. One direction of flow: the compiler may use the runtime's schedule,
# checker, timeline and kernel queries; the runtime uses nothing of the compiler.
FORBIDDEN_INCLUDES = [
    ("runtime/", r'"(vdnn|lib)/|[<"](mlir|llvm|google/protobuf)/'),
    ("runtime/check/", r'"runtime/(exec|sim|backend)/'),
    ("runtime/schedule/", r'"runtime/(exec|sim|backend|check)/'),
    ("lib/Planning/", r'[<"](mlir|llvm)/|"vdnn/(Dialect|Import|Training|Analysis|Cost|Transforms|Target|Pipelines)/'),
    ("include/vdnn/Planning/", r'[<"](mlir|llvm)/|"vdnn/(Dialect|Import|Training|Analysis|Cost|Transforms|Target|Pipelines)/'),
    ("lib/", r'"runtime/exec/Executor|"runtime/backend/cpu/(?!Query)'),
]
HASH_ITERATION = re.compile(r"\b(DenseMap|DenseSet|StringMap|unordered_map|unordered_set)\b")
NO_HASH = ("lib/Planning/", "lib/Transforms/", "lib/Target/", "lib/Analysis/")
MESSAGE = re.compile(r'(?:emitError\(|emitOpError\(|Error\{)\s*"([A-Z][a-z][^"]*)"')
WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def tracked():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [p for p in out.decode().split("\0") if p and (ROOT / p).is_file()]


def lint(path, text):
    lines = text.split("\n")
    if path.endswith((".cpp", ".h", ".td", ".py")):
        limit = RATCHET.get(path, MAX_LINES)
        if len(lines) > limit:
            yield f"{path}: {len(lines)} lines, at most {limit}: split it by meaning"
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}"
        if WORDS.search(line) and path != SELF:
            yield f"{where}: unfinished work is an issue, not a comment: {line.strip()}"
        if path.endswith((".cpp", ".h")):
            if line.lstrip().startswith("#include"):
                for folder, pattern in FORBIDDEN_INCLUDES:
                    if path.startswith(folder) and re.search(pattern, line):
                        yield f"{where}: {folder} may not include this: {line.strip()}"
            if re.search(r"[ \t]+$", line):
                yield f"{where}: trailing space"
    if path.endswith((".cpp", ".h")):
        for match in MESSAGE.finditer(text):
            yield f"{path}: a message starts in lower case: '{match.group(1)}'"
        if path.startswith(NO_HASH):
            for match in re.finditer(r"for \([^;)]*: *(\w+)\)", text):
                name = match.group(1)
                if re.search(r"(DenseMap|DenseSet|StringMap|unordered_\w+)<[^;]*>\s+" + name + r"\b", text):
                    yield f"{path}: iterates over the hash table '{name}': plans must be the same every time"


def folders_without_readme(paths):
    for top in ("lib", "runtime", "tools", "test", "bench"):
        folders = {str(Path(p).parent) for p in paths if p.startswith(top + "/") and p.endswith((".cpp", ".py", ".mlir"))}
        for folder in sorted(folders):
            if "Inputs" in folder or folder.startswith("test/unit/"):
                continue
            if not (ROOT / folder / "README.md").exists():
                yield f"{folder}/README.md is missing: say in a paragraph why the folder exists"


def main():
    paths = tracked()
    problems = []
    for path in paths:
        if path.endswith((".cpp", ".h", ".td", ".py", ".md", ".sh", ".txt", ".mlir", ".fbs", ".cmake")):
            problems += lint(path, (ROOT / path).read_text(errors="replace"))
    problems += folders_without_readme(paths)
    for problem in problems:
        print(problem)
    print(f"tidy: {len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
