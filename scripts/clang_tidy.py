#!/usr/bin/env python3
"""Runs clang-tidy 19 on the sources, with the compile commands of a release build.

    scripts/clang_tidy.py            lib/Planning and the runtime without its two backends
    scripts/clang_tidy.py --all      the backends, the compiler and the tools too: slow

A file that passed is not run again until it, a header of it, or a check in .clang-tidy changes: BUILD/clang-tidy holds a mark for each
preprocessed text that passed. The build must be up to date, since sources include generated headers.
"""

import argparse
import hashlib
import json
import os
import resource
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIDY = "clang-tidy-19"
FOLDERS = ("lib/Planning/", "runtime/backend/common/", "runtime/backend/plugin/", "runtime/check/", "runtime/exec/",
           "runtime/profile/", "runtime/schedule/", "runtime/sim/", "runtime/support/")
ALL = ("runtime/", "lib/", "tools/")


def output_of(command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def preprocessed(entry):
    """The text that the compiler sees, comments included, since some of them are for clang-tidy."""
    words = [w for w in shlex.split(entry["command"]) if not w.endswith("ccache")]
    del words[words.index("-o"):words.index("-o") + 2]
    words[words.index("-c")] = "-E"
    return output_of([*words, "-C", "-P"], cwd=entry["directory"])


def openmp_folder(build):
    """A folder with GCC's omp.h alone: clang has none of its own, and GCC's other headers are not for it. Nor is one attribute there."""
    folder = build / "clang-tidy" / "include"
    folder.mkdir(parents=True, exist_ok=True)
    header = output_of(["c++", "-print-file-name=include/omp.h"], text=True).strip()
    copy = folder / "omp.h"
    copy.unlink(missing_ok=True)
    copy.write_text(Path(header).read_text().replace("__malloc__ (omp_free),", ""))
    return folder


def run(build, entry, key, include):
    """The complaints about one file, or None."""
    mark = build / "clang-tidy" / hashlib.sha256(key + preprocessed(entry)).hexdigest()
    if mark.exists():
        return None
    done = subprocess.run([TIDY, "-p", build, "--quiet", "--warnings-as-errors=*", f"--extra-arg=-isystem{include}",
                           # GCC's options and pragmas; what its standard library does inside.
                           "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations",
                           "--extra-arg=-Wno-unknown-pragmas",
                           entry["file"]],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        mark.touch()
        return None
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the backends, the compiler and the tools too")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", help="these only")
    args = parser.parse_args()
    build = args.build_dir.resolve()
    try:
        commands = json.loads((build / "compile_commands.json").read_text())
    except OSError as error:
        sys.exit(f"clang_tidy.py: error: {error}; configure a build there, or name another one with --build-dir")
    tracked = set(output_of(["git", "ls-files", "*.cpp"], cwd=ROOT, text=True).split())
    wanted = set(args.files) or {path for path in tracked if path.startswith(ALL if args.all else FOLDERS)}
    entries = {path: entry for entry in commands if (path := os.path.relpath(entry["file"], ROOT)) in wanted}
    if not entries or set(args.files) - set(entries):
        sys.exit(f"clang_tidy.py: error: '{build}' compiles none of {', '.join(sorted(wanted - set(entries)))}")
    checks = [line for line in (ROOT / ".clang-tidy").read_text().splitlines() if not line.lstrip().startswith("#")]
    key = "\n".join(checks).encode() + output_of([TIDY, "--version"])
    include = openmp_folder(build)
    bad = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for path, complaint in zip(entries, pool.map(lambda e: run(build, e, key, include), entries.values())):
            if complaint is not None:
                bad += 1
                print(f"--- {path}\n{complaint}", flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"clang-tidy: {len(entries)} files, {bad} with complaints; {used.ru_utime + used.ru_stime:.0f} s of CPU")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FileNotFoundError as missing:
        sys.exit(f"clang_tidy.py: error: '{missing.filename}' is not installed")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"clang_tidy.py: error: {shlex.join(map(str, failed.cmd))}\n{failed.stderr.decode(errors='replace') if isinstance(failed.stderr, bytes) else failed.stderr}")
