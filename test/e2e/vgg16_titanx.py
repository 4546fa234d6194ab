#!/usr/bin/env python3
"""VGG-16 with batch 256 for the Titan X of the vDNN paper, under each policy and each kind of kernel.

Prints peak, average, bytes moved and predicted time, and checks the byte counts against the paper's arithmetic (fp32, 224 x 224, ReLU in
place, workspaces excluded): feature maps 14.5 GiB, weights 0.52 GiB, baseline 21.7 GiB, offloaded 14.5 GiB by `all` and 8.66 GiB by `conv`.
"""

import tempfile
from pathlib import Path

import tools

GIB = 1 << 30

# From the paper's accounting: name in the summary, GiB, relative tolerance. The exported model has maps that the paper's arithmetic has not (the
# adaptive pool that changes nothing, dropouts, the input in another layout): 1.6 % more.
REFERENCE = [
    ("feature_maps", 14.5, 0.01),
    ("weights", 0.52, 0.01),
    ("baseline", 21.7, 0.01),
    ("offload_all", 14.5, 0.003),
    ("offload_conv", 8.66, 0.001),
]


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--model", type=Path, default=tools.MODELS / "vgg16.onnx")
    options = parser.parse_args()
    build = tools.Tools(options.build_dir)
    problems = []
    print(f"{'policy':8} {'kernels':12} {'peak':>10} {'average':>10} {'to host':>10} {'to device':>10} {'step':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for policy in ("none", "all", "conv"):
            for kernels in ("memory", "performance"):
                plan = build.plan(options.model, f"{folder}/plan.mlir", "--batch=256", "--loss=cross_entropy", "--momentum=0", "--device=titanx",
                                  "--storage=paper", "--sync=layer", f"--policy={policy}", f"--kernels={kernels}")
                sizes = [plan[name] / GIB for name in ("device_arena", "average_bytes", "offloaded_bytes", "prefetched_bytes")]
                print(f"{policy:8} {kernels:12} " + " ".join(f"{size:6.2f} GiB" for size in sizes) + f" {plan['step_ns'] / 1e9:7.3f} s")
                moved = {"none": 0, "all": plan["paper"]["offload_all"], "conv": plan["paper"]["offload_conv"]}[policy]
                for name in ("offloaded_bytes", "prefetched_bytes"):
                    if plan[name] != moved:
                        problems.append(f"{policy}, {kernels} kernels: {name} is {plan[name]}, expected {moved}, the paper's count")
    print("the paper's accounting:")
    for name, expected, tolerance in REFERENCE:
        found = plan["paper"][name] / GIB
        print(f"  {name:14} {found:6.2f} GiB, expected {expected}")
        if abs(found / expected - 1) > tolerance:
            problems.append(f"{name} is {found:.3f} GiB, expected {expected} within {100 * tolerance:.1f} %")
    tools.fail_if(problems, "the plans agree with the paper's arithmetic")


if __name__ == "__main__":
    main()
