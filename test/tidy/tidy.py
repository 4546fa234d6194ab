#!/usr/bin/env python3
"""The house rules that a script can check. Prints every violation; exits 1 if there is one."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SELF = "test/tidy/tidy.py"
MAX_LINES = 500

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
NO_HASH = ("lib/Planning/", "lib/Transforms/", "lib/Target/", "lib/Analysis/")
MESSAGE = re.compile(r'(?:emitError\(|emitOpError\(|Error\{)\s*"([A-Z][a-z][^"]*)"')
LINK = re.compile(r"\]\(<?([^()<>\s]+)>?(?: \"[^\"]*\")?\)")
WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def tracked():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [p for p in out.decode().split("\0") if p and (ROOT / p).is_file()]


def lint(path, text):
    lines = text.split("\n")
    if path.endswith((".cpp", ".h", ".td", ".py")):
        if len(lines) > MAX_LINES:
            yield f"{path}: {len(lines)} lines, at most {MAX_LINES}: split it by meaning"
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


def without_code(text):
    """Markdown with its code blanked out: what stands there is no link and no heading."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """The anchors of a Markdown file, as GitHub makes them from its headings."""
    fenced = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*?)\s*#*$", fenced, flags=re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number, name = 0, slug
        while name in found:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


def broken_links(path, text):
    """Relative links of a Markdown file to files or headings that are not there."""
    for number, line in enumerate(without_code(text).split("\n"), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = ROOT / path if not name else ROOT / Path(path).parent / name
            if not file.exists():
                yield f"{path}:{number}: links to '{name}', which does not exist"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                yield f"{path}:{number}: links to '{target}', a heading that does not exist"


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
            text = (ROOT / path).read_text(errors="replace")
            problems += lint(path, text)
            if path.endswith(".md"):
                problems += broken_links(path, text)
    problems += folders_without_readme(paths)
    for problem in problems:
        print(problem)
    print(f"tidy: {len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
