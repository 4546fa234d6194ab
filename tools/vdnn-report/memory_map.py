#!/usr/bin/env python3
"""Draws the device arena of one or more plans over one step, as an SVG: time to the right, addresses upward.

    memory_map.py none.mlir all.mlir -o memory.svg [--title none --title all]

Every rectangle is a buffer: as wide as the time between its first and last command, as high as its bytes. Time is the compute stream's, by the
cost model of the plan; a copy stands at the point of the compute stream where it was submitted. All maps have one scale of bytes.
"""

import argparse
import re
import sys
from html import escape
from pathlib import Path

TENSOR = re.compile(r'vdnn\.tensor @("[^"]*"|\S+) (\w+) .* (\d+) bytes (\w+) ')
BUFFER = re.compile(r"vdnn\.buffer @(\S+) (?:of @(\"[^\"]*\"|\S+) )?(\w+) at (\d+) bytes (\d+)")
LAUNCH = re.compile(r'vdnn\.cmd\.launch "(\w+)".* on compute .* ns (\d+) from')
COPY = re.compile(r"vdnn\.cmd\.copy on (\w+) @(\S+) to @(\S+) ns")
NAME = re.compile(r"@([\w.$-]+)")

COLOURS = {
    "parameter": "#9aa5b1", "state": "#c3cad1", "gradient": "#d08770", "workspace": "#ebcb8b", "input": "#8fbcbb",
    "output": "#8fbcbb", "activation": "#5e81ac", "offloaded": "#a3be8c",
}
WIDTH, HEIGHT, GAP, LEFT, TOP, BOTTOM = 460, 330, 70, 64, 54, 66


class Plan:
    """Device buffers of a plan with their begin and end on the compute stream, in nanoseconds."""

    def __init__(self, path):
        roles, offloaded, self.buffers = {}, set(), {}
        now, self.length = 0, 0
        touched = {}
        for line in Path(path).read_text().splitlines():
            if match := TENSOR.search(line):
                roles[match[1]] = match[2]
                if match[4] == "offload":
                    offloaded.add(match[1])
            elif match := BUFFER.search(line):
                tensor = match[2]
                role = "workspace" if tensor is None else "offloaded" if tensor in offloaded else roles[tensor]
                if match[3] == "device":
                    self.buffers[match[1]] = (role, int(match[4]), int(match[5]))
            elif match := LAUNCH.search(line):
                begin, now = now, now + int(match[2])
                for name in NAME.findall(line):
                    touched.setdefault(name, [begin, now])[1] = now
            elif match := COPY.search(line):
                for name in (match[2], match[3]):
                    touched.setdefault(name, [now, now])[1] = now
        self.length = max(now, 1)
        self.lives = {name: touched.get(name, [0, 0]) for name in self.buffers}
        for name, (role, _, _) in self.buffers.items():
            if role in ("parameter", "state"):
                self.lives[name] = [0, self.length]
        self.peak = max((offset + size for _, offset, size in self.buffers.values()), default=0)


def gib(size):
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


def draw(plans, titles):
    top = max(plan.peak for plan in plans)
    width = LEFT + len(plans) * (WIDTH + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + BOTTOM}" font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>']
    for index, (plan, title) in enumerate(zip(plans, titles)):
        x0 = LEFT + index * (WIDTH + GAP)
        out.append(f'<text x="{x0}" y="{TOP - 30}" font-size="15" font-weight="bold">{escape(title)}</text>')
        out.append(f'<text x="{x0}" y="{TOP - 12}" fill="#555">device arena {gib(plan.peak)}, compute {plan.length / 1e6:.0f} ms</text>')
        out.append(f'<rect x="{x0}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="#f4f5f7"/>')
        for name, (role, offset, size) in plan.buffers.items():
            begin, end = plan.lives[name]
            x, w = x0 + begin / plan.length * WIDTH, max((end - begin) / plan.length * WIDTH, 0.6)
            y, h = TOP + HEIGHT - (offset + size) / top * HEIGHT, size / top * HEIGHT
            out.append(f'<rect x="{x:.1f}" y="{y:.2f}" width="{w:.1f}" height="{h:.2f}" fill="{COLOURS[role]}" '
                       f'stroke="white" stroke-width="{min(0.4, h / 8):.2f}"><title>{escape(name)}: {role}, {gib(size)}</title></rect>')
        y = TOP + HEIGHT - plan.peak / top * HEIGHT
        out.append(f'<path d="M{x0} {y:.1f}h{WIDTH}" stroke="#bf616a" stroke-dasharray="5 3"/>')
        out.append(f'<text x="{x0}" y="{TOP + HEIGHT + 18}" fill="#555">time of one training step →</text>')
    out.append(f'<text transform="translate({LEFT - 14} {TOP + HEIGHT}) rotate(-90)" fill="#555">address (bytes of the device arena) →</text>')
    x = LEFT
    for role, colour in COLOURS.items():
        if role in ("input", "output"):
            continue
        out.append(f'<rect x="{x}" y="{TOP + HEIGHT + 34}" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{x + 17}" y="{TOP + HEIGHT + 45}">{role}</text>')
        x += 40 + 8 * len(role)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--title", action="append", default=[])
    args = parser.parse_args()
    titles = args.title + [Path(p).stem for p in args.plans[len(args.title):]]
    try:
        plans = [Plan(path) for path in args.plans]
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"memory_map.py: error: {error}")
    if not all(plan.buffers for plan in plans):
        sys.exit("memory_map.py: error: not a plan in command form; make one with `vdnn-opt model.onnx -o plan.mlir`")
    Path(args.output).write_text(draw(plans, titles))


if __name__ == "__main__":
    main()
