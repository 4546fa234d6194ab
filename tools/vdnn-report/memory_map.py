#!/usr/bin/env python3
"""Draws what one or more plans keep on the device during one step, as an SVG: time to the right, addresses upward.

    memory_map.py none.mlir all.mlir -o memory.svg --heading "VGG-16, batch 256" --title "all on the device" --title "offloaded"

Every rectangle is a buffer: as wide as its life, from its first command to its last, and as high as its bytes. Below stand the
streams' lanes and how much is in host memory. Times are the plan's own predictions, its commands replayed in order with their
events. All maps have the same scales. `--line 12GiB=label` draws a height to compare with, such as a card's memory.
"""

import argparse
import re
import sys
from html import escape
from pathlib import Path

SYMBOL = r'@("[^"]*"|[\w.$-]+)'
TENSOR = re.compile(rf"vdnn\.tensor {SYMBOL} (\w+) .*? \d+ bytes (\w+) ")
ENDS = re.compile(rf" (?:entry|exit) {SYMBOL}")
BUFFER = re.compile(rf"vdnn\.buffer {SYMBOL} (?:of {SYMBOL} )?(\w+) at (\d+) bytes (\d+)")
COMMAND = re.compile(r"vdnn\.cmd\.(launch|copy|record|wait)\b.* on (\w+)\b")
EVENT = re.compile(r" event (\d+)")
DURATION = re.compile(r" ns (\d+)")
USE = re.compile(SYMBOL)

KINDS = {  # kind: (colour, what the legend says)
    "parameter": ("#7b8794", "parameters and optimizer state"), "gradient": ("#d9734e", "gradients"),
    "workspace": ("#efc15d", "workspaces"), "activation": ("#3f6fa3", "activations that stay"),
    "offloaded": ("#2f8f6b", "offloaded: before"), "back": ("#9fd1b5", "offloaded: brought back"), "data": ("#9a7fc0", "inputs and outputs"),
}
LANES = (("compute", "compute", "#4b5563"), ("d2h", "copy out", "#2f8f6b"), ("h2d", "copy in", "#9fd1b5"))
INK, FAINT, GRID, ALARM = "#1f2933", "#616e7c", "#e4e7eb", "#c0392b"
WIDTH, HEIGHT, GAP, LEFT, RIGHT, TOP = 470, 330, 34, 92, 24, 112
LANE, HOST, SPACE = 15, 54, 6


class Plan:
    """The buffers of a plan with their lives, and the busy times of its streams, in nanoseconds."""

    def __init__(self, path):
        self.buffers, self.host, self.lives = {}, {}, {}
        self.busy = {stream: [] for stream, _, _ in LANES}
        roles, decisions, entries = {}, {}, set()
        clocks, events = dict.fromkeys(self.busy, 0), {}
        for line in Path(path).read_text().splitlines():
            if match := TENSOR.search(line):
                roles[match[1]], decisions[match[1]] = match[2], match[3]
                entries.update(ENDS.findall(line))
            elif match := BUFFER.search(line):
                name, tensor, arena = match[1], match[2], match[3]
                entry = (self.kind(name, tensor, roles, decisions), int(match[4]), int(match[5]))
                (self.buffers if arena == "device" else self.host)[name] = entry
            elif match := COMMAND.search(line):
                self.replay(line, match[1], match[2], clocks, events)
        self.length = max(max(clocks.values()), 1)
        for name in entries:  # holds its tensor from one step to the next
            self.lives[name] = [0, self.length]
        self.peak = max((offset + size for _, offset, size in self.buffers.values()), default=0)
        self.offloaded = sum(size for kind, _, size in self.buffers.values() if kind == "offloaded")

    @staticmethod
    def kind(name, tensor, roles, decisions):
        if tensor is None:
            return "workspace"
        if decisions[tensor] == "offload":
            return "back" if name.strip('"').endswith(".back") else "offloaded"
        role = {"input": "data", "output": "data", "state": "parameter"}.get(roles[tensor], roles[tensor])
        return "gradient" if role == "activation" and ".grad" in tensor else role

    def replay(self, line, command, stream, clocks, events):
        """A stream runs its commands one after the other; a wait holds it until the event was recorded."""
        begin = clocks[stream]
        if command == "record":
            events[EVENT.search(line)[1]] = begin
        elif command == "wait":
            clocks[stream] = max(begin, events[EVENT.search(line)[1]])
        else:
            end = clocks[stream] = begin + int(DURATION.search(line)[1])
            self.busy[stream].append((begin, end))
            for name in USE.findall(line):
                life = self.lives.setdefault(name, [begin, end])
                life[:] = min(life[0], begin), max(life[1], end)

    def host_curve(self):
        """(time, bytes in host memory) at each change, inputs and outputs left out."""
        changes = sorted((time, sign * size) for name, (kind, _, size) in self.host.items() if kind != "data" and name in self.lives
                         for time, sign in zip(self.lives[name], (1, -1)))
        total, points = 0, []
        for time, change in changes:
            points.append((time, total))
            total += change
            points.append((time, total))
        return points


def gib(size):
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


def seconds(nanoseconds):
    return f"{nanoseconds / 1e9:.2f} s" if nanoseconds >= 1e9 else f"{nanoseconds / 1e6:.1f} ms"


def round_step(length, count):
    """1, 2 or 5 times a power of ten, so that about `count` steps fill `length`."""
    power = 1
    while power * 10 * count <= length:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * count >= length)


class Picture:
    def __init__(self, plans, lines):
        self.out, self.lines = [], lines
        self.bytes = max([plan.peak for plan in plans] + [size for size, _ in lines]) * 1.06
        self.time = max(plan.length for plan in plans)
        self.host_bytes = max((size for plan in plans for _, size in plan.host_curve()), default=0) or 1
        self.bottom = TOP + HEIGHT

    def text(self, x, y, text, fill=FAINT, size=13, anchor="start", more=""):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size}" text-anchor="{anchor}" {more}>{escape(text)}</text>')

    def box(self, x, y, width, height, fill, title="", more=""):
        inside = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.out.append(f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{fill}" {more}{inside}')

    def rule(self, x, y, path, stroke=GRID, more=""):
        self.out.append(f'<path d="M{x:.1f} {y:.1f}{path}" stroke="{stroke}" fill="none" {more}/>')

    def x(self, x0, time):
        return x0 + time / self.time * WIDTH

    def y(self, size):
        return self.bottom - size / self.bytes * HEIGHT

    def axes(self, x0, first):
        unit, name = (2**30, "GiB") if self.bytes >= 2**30 else (2**20, "MiB") if self.bytes >= 2**20 else (2**10, "KiB")
        step = round_step(max(int(self.bytes / unit), 1), 6)
        for tick in range(0, int(self.bytes / unit) + 1, step):
            self.rule(x0, self.y(tick * unit), f"h{WIDTH}")
            if first:
                self.text(x0 - 8, self.y(tick * unit) + 4, str(tick), anchor="end")
        if first:
            self.text(0, 0, f"address on the device ({name})", anchor="middle", more=f'transform="translate({x0 - 42} {TOP + HEIGHT / 2}) rotate(-90)"')
        long = self.time >= 1e9
        unit, name = (10**8, "s") if long else (10**5, "ms")
        step = round_step(max(int(self.time / unit), 1), 6)
        base = self.lanes_end()
        for tick in range(0, int(self.time / unit) + 1, step):
            self.rule(self.x(x0, tick * unit), TOP, f"V{base}")
            self.text(self.x(x0, tick * unit), base + 17, f"{tick / 10:g}", anchor="middle")
        self.text(x0 + WIDTH / 2, base + 36, f"time in the training step ({name})", anchor="middle")

    def lanes_end(self):
        return self.bottom + 12 + len(LANES) * (LANE + SPACE) + HOST + 2 * SPACE

    def map(self, x0, plan):
        for name, (kind, offset, size) in plan.buffers.items():
            begin, end = plan.lives.get(name, (0, 0))
            width, height = (end - begin) / self.time * WIDTH, size / self.bytes * HEIGHT
            clean = name.strip('"').removeprefix("device:")
            self.box(self.x(x0, begin), self.y(offset + size), max(width, 0.5), height, KINDS[kind][0], f"{clean}: {gib(size)}",
                     f'stroke="white" stroke-width="{min(0.5, height / 6, width / 6):.2f}"')
            label = clean.removesuffix(".back")
            if height > 16 and width > 7.2 * len(label) and kind != "workspace":
                self.text(self.x(x0, begin) + width / 2, self.y(offset + size / 2) + 4, label, INK if kind == "back" else "white", 11, "middle")
        for size, label in self.lines:
            self.rule(x0, self.y(size), f"h{WIDTH}", ALARM, 'stroke-width="1.5" stroke-dasharray="6 4"')
            self.text(x0 + WIDTH - 6, self.y(size) - 6, label, ALARM, 12, "end",
                      'font-weight="bold" paint-order="stroke" stroke="white" stroke-width="4" stroke-linejoin="round"')

    def lanes(self, x0, plan, first):
        y = self.bottom + 12
        for stream, label, colour in LANES:
            self.box(x0, y, WIDTH, LANE, "#f0f2f4")
            for begin, end in plan.busy[stream]:
                self.box(self.x(x0, begin), y, max((end - begin) / self.time * WIDTH, 0.3), LANE, colour, more='stroke="white" stroke-width="0.25"')
            if first:
                self.text(x0 - 8, y + LANE - 3, label, anchor="end")
            y += LANE + SPACE
        base = y + SPACE + HOST
        self.box(x0, y + SPACE, WIDTH, HOST, "#f0f2f4")
        points = [f"L{self.x(x0, time):.1f} {base - size / self.host_bytes * (HOST - 18):.1f}" for time, size in plan.host_curve()]
        if points:
            self.out.append(f'<path d="M{x0} {base}{"".join(points)}V{base}Z" fill="#2f8f6b" fill-opacity="0.35" stroke="#2f8f6b"/>')
        most = max((size for _, size in plan.host_curve()), default=0)
        self.text(x0 + WIDTH - 6, y + SPACE + 14, f"at most {gib(most)}" if most else "nothing", anchor="end", size=12)
        if first:
            self.text(x0 - 8, y + SPACE + HOST / 2, "in host", anchor="end")
            self.text(x0 - 8, y + SPACE + HOST / 2 + 15, "memory", anchor="end")

    def legend(self, x, y, kinds, end):
        start = x
        for kind in kinds:
            colour, label = KINDS[kind]
            width = 26 + 7.1 * len(label) + 16
            if x + width > end:
                x, y = start, y + 22
            self.box(x, y - 11, 13, 13, colour, more='rx="2"')
            self.text(x + 19, y, label, INK)
            x += width
        return y


def draw(plans, titles, heading, lines):
    picture = Picture(plans, lines)
    width = LEFT + len(plans) * (WIDTH + GAP) - GAP + RIGHT
    if heading:
        picture.text(LEFT, 34, heading, INK, 20, more='font-weight="bold"')
    for index, (plan, title) in enumerate(zip(plans, titles)):
        x0 = LEFT + index * (WIDTH + GAP)
        picture.text(x0, 70, title, INK, 15, more='font-weight="bold"')
        moved = f", {gib(plan.offloaded)} moved out and back" if plan.offloaded else ""
        picture.text(x0, 92, f"peak {gib(plan.peak)}, step {seconds(plan.length)}{moved}")
        picture.axes(x0, index == 0)
        picture.map(x0, plan)
        picture.lanes(x0, plan, index == 0)
    used = {kind for plan in plans for kind, _, _ in plan.buffers.values()}
    end = picture.legend(LEFT, picture.lanes_end() + 68, [kind for kind in KINDS if kind in used], width - RIGHT)
    height = end + 22
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="Helvetica, Arial, sans-serif">')
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *picture.out, "</svg>"]) + "\n"


def parse_line(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]iB)=(.+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no height with a label, such as '12GiB=the card'")
    return float(match[1]) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[match[2]], match[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+", help="plans as text")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--heading", default="", help="above all maps")
    parser.add_argument("--title", action="append", default=[], help="of each map in turn; else the file's name")
    parser.add_argument("--line", action="append", default=[], type=parse_line, metavar="SIZE=LABEL")
    args = parser.parse_args()
    titles = args.title + [Path(p).stem for p in args.plans[len(args.title):]]
    try:
        plans = [Plan(path) for path in args.plans]
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"memory_map.py: error: {error}")
    if not all(plan.buffers for plan in plans):
        sys.exit("memory_map.py: error: not a plan in command form; make one with `vdnn-opt model.onnx -o plan.mlir`")
    Path(args.output).write_text(draw(plans, titles, args.heading, args.line))


if __name__ == "__main__":
    main()
