#!/usr/bin/env python3
"""Runs the fuzzers, each for some seconds from a fresh corpus of seeds; fails on the first input that a reader can't bear.

    cmake --preset fuzz && cmake --build --preset fuzz --target fuzzers
    run.py --seconds 600 onnx vdnn

An input fails that crashes, lets a sanitizer speak, takes more than 10 s, or makes the reader allocate more than 1 GiB at once or 2 GiB in all.
It is kept in the fuzz build's folder fuzz-crashes; give it to the fuzzer as argument to see it again.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import seeds

# MLIR's own libraries are not built with sanitizers: what its allocators and containers mark as unused on the one side of the border is in
# use on the other.
ASAN = "allow_user_poisoning=0:detect_container_overflow=0:allocator_may_return_null=0:detect_stack_use_after_return=0"
LIMITS = ["-timeout=10", "-malloc_limit_mb=1024", "-rss_limit_mb=2048", "-max_len=131072"]


def fuzz(build, reader, seconds, seed):
    corpus, crashes = build / "fuzz-corpus" / reader, build / "fuzz-crashes"
    crashes.mkdir(exist_ok=True)
    command = [build / f"fuzz-bin/fuzz-{reader}", *LIMITS, f"-max_total_time={seconds}", f"-seed={seed}", "-print_final_stats=1",
               f"-artifact_prefix={crashes}/{reader}-", corpus]
    environment = {**os.environ, "ASAN_OPTIONS": ASAN, "UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", default=seeds.READERS, metavar="reader", help=f"some of {', '.join(seeds.READERS)}")
    parser.add_argument("--build-dir", default="build-fuzz", type=Path, help="of the fuzzers")
    parser.add_argument("--tools-dir", default="build", type=Path, help="the build whose tools make the seeds")
    parser.add_argument("--seconds", type=int, default=10, help="for each fuzzer")
    parser.add_argument("--seed", type=int, default=1, help="0: another one each time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    build = seeds.ROOT / args.build_dir
    shutil.rmtree(build / "fuzz-corpus", ignore_errors=True)
    seeds.write(build / "fuzz-corpus", seeds.ROOT / args.tools_dir)
    failures = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = [(reader, pool.submit(fuzz, build, reader, args.seconds, args.seed)) for reader in args.readers]
        for reader, run in runs:
            done = run.result()
            output = done.stdout.decode(errors="replace")
            statistics = dict(line[6:].split(":", 1) for line in output.splitlines() if line.startswith("stat::"))
            print(f"{reader}: {statistics.get('number_of_executed_units', '?').strip()} inputs", flush=True)
            if done.returncode:
                failures += 1
                print(output[-6000:], flush=True)
    print(f"{'FAILED' if failures else 'passed'}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
