"""Writes plans of a linear classifier (JSON form) and data for it into a folder.

none.json      everything stays on the device
staged.json    none.json with the next step's x copied in while a step runs
offload.json   x and the log-probabilities go to the host and come back
wrong.json     none.json with gradients of twice the size
marked.json    none.json with a kernel that is marked nondeterministic
varying.json   marked.json, allowed
race.json      offload.json without one wait
model.json     offload.json for a device that exists only as a cost model
infer.json     scores only
anywhere.json  none.json without a fingerprint
elsewhere.json none.json of another machine
full.safetensors   a value of the parameter
other.safetensors  another name's
train_x.npy, train_labels.npy, test_x.npy, test_labels.npy
"""

import json
import os
import struct
import subprocess
import sys

BATCH, FEATURES, CLASSES = 8, 4, 3
SIZE = {"F32": 4, "I64": 8}


class Plan:
    # What a plan for this machine is tied to.
    fingerprint = subprocess.run(["vdnn-run", "--fingerprint"], capture_output=True, text=True, check=True).stdout.strip()

    def __init__(self, kind="cpu"):
        self.types, self.tensors, self.buffers, self.kernels, self.commands = [], [], [], [], []
        self.events = 0
        self.arena = {"Device": 0, "Host": 0}
        self.kind = kind

    def type(self, element, shape):
        entry = {"element": element, "shape": shape}
        if entry not in self.types:
            self.types.append(entry)
        return self.types.index(entry)

    def tensor(self, name, role, element, shape, **more):
        size = SIZE[element]
        for extent in shape:
            size *= extent
        self.tensors.append({"name": name, "role": role, "type": {"element": element, "shape": shape}, "bytes": size, **more})
        return len(self.tensors) - 1

    def buffer(self, tensor, arena="Device", size=None, offset=None):
        size = self.tensors[tensor]["bytes"] if size is None else size
        if offset is None:
            offset = self.arena[arena]
            self.arena[arena] = offset + (size + 63) // 64 * 64
        name = self.tensors[tensor]["name"] if tensor >= 0 else "workspace"
        self.buffers.append({"name": name, "tensor": tensor, "arena": arena, "offset": offset, "bytes": size, "alignment": 64})
        return len(self.buffers) - 1

    def operand(self, buffer):
        type = self.tensors[self.buffers[buffer]["tensor"]]["type"]
        return {"buffer": buffer, "type": self.type(type["element"], type["shape"])}

    def launch(self, kind, reads, writes, attributes=(), workspace=0, in_place=()):
        self.kernels.append({"kind": kind, "attributes": list(attributes)})
        command = {"kind": "Launch", "stream": 0, "kernel": len(self.kernels) - 1, "location": kind, "predicted_ns": 1000,
                   "reads": [self.operand(b) for b in reads], "writes": [self.operand(b) for b in writes]}
        if workspace:
            command["workspace"] = self.buffer(-1, size=workspace)
        if in_place:
            command["in_place"] = [{"read": r, "write": w} for r, w in in_place]
        self.commands.append(command)

    def copy(self, stream, source, target):
        self.commands.append({"kind": "Copy", "stream": stream, "reads": [self.operand(source)],
                              "writes": [self.operand(target)], "predicted_ns": 700})

    def order(self, before, after):
        self.commands.append({"kind": "Record", "stream": before, "event": self.events})
        self.commands.append({"kind": "Wait", "stream": after, "event": self.events})
        self.events += 1

    def peak(self, arena):
        return max([b["offset"] + b["bytes"] for b in self.buffers if b["arena"] == arena], default=0)

    def write(self, path, policy, **more):
        with open(path, "w") as file:
            json.dump({"version": 1, "model": "linear", "target": {"kind": self.kind, "name": "toy", "fingerprint": self.fingerprint},
                       "device_arena": self.peak("Device"), "host_arena": self.peak("Host"), "tensors": self.tensors,
                       "buffers": self.buffers, "types": self.types, "kernels": self.kernels, "commands": self.commands,
                       "streams": [{"name": "compute", "kind": "Compute"}, {"name": "d2h", "kind": "DeviceToHost"},
                                   {"name": "h2d", "kind": "HostToDevice"}],
                       "event_count": self.events, "summary": {"policy": policy, "sync": "event"}, **more}, file)


COMPUTE, TO_HOST, TO_DEVICE = 0, 1, 2
NORMAL = {"kind": "Normal", "a": 0.0, "b": 0.1}
WORKSPACE = 1 << 20


def training(offload, kind="cpu", seed_of_gradient=1.0, staged=False):
    p = Plan(kind)
    where = "Offload" if offload else "Keep"
    x = p.tensor("x", "Input", "F32", [BATCH, FEATURES], decision=where)
    labels = p.tensor("labels", "Input", "I64", [BATCH])
    rate = p.tensor("vdnn.rate", "Input", "F32", [])
    w = p.tensor("w", "Parameter", "F32", [FEATURES, CLASSES], initial=NORMAL)
    one = p.tensor("constant.0", "State", "F32", [], initial={"kind": "Constant", "a": seed_of_gradient})
    logits = p.tensor("logits", "Activation", "F32", [BATCH, CLASSES])
    log_prob = p.tensor("log_prob", "Activation", "F32", [BATCH, CLASSES], decision=where)
    dlogits = p.tensor("dlogits", "Activation", "F32", [BATCH, CLASSES])
    grad = p.tensor("w.grad", "Gradient", "F32", [FEATURES, CLASSES], gradient_of=w)
    loss = p.tensor("loss", "Output", "F32", [])

    host = {t: p.buffer(t, "Host") for t in (x, labels, rate, loss)}
    device = {t: p.buffer(t) for t in range(len(p.tensors))}
    updated = p.buffer(w, offset=p.buffers[device[w]]["offset"])
    for t in (x, labels, rate):
        p.tensors[t]["entry"] = host[t]
    if staged:
        next_x = p.buffer(x, offset=p.buffers[device[x]]["offset"])
        p.tensors[x].update(entry=device[x], exit=next_x, staging=host[x])
    p.tensors[loss]["exit"] = host[loss]
    p.tensors[w].update(entry=device[w], exit=updated)
    p.tensors[one].update(entry=device[one], exit=device[one])

    p.order(COMPUTE, TO_DEVICE)
    for t in (labels, rate) if staged else (x, labels, rate):
        p.copy(TO_DEVICE, host[t], device[t])
    p.order(TO_DEVICE, COMPUTE)
    p.launch("matmul", [device[x], device[w]], [device[logits]], workspace=WORKSPACE)
    mean = [{"name": "reduction", "text": "mean"}]
    p.launch("softmax_cross_entropy", [device[logits], device[labels]], [device[loss], device[log_prob]], mean)
    p.order(COMPUTE, TO_HOST)
    p.copy(TO_HOST, device[loss], host[loss])
    x_back, log_prob_back = device[x], device[log_prob]
    if offload:
        for t in (x, log_prob):
            away = p.buffer(t, "Host")
            p.copy(TO_HOST, device[t], away)
            p.order(TO_HOST, TO_DEVICE)
            # Back to where it was: the range is free once the copy out of it is done.
            back = p.buffer(t, offset=p.buffers[device[t]]["offset"])
            p.copy(TO_DEVICE, away, back)
            x_back, log_prob_back = (back, log_prob_back) if t == x else (x_back, back)
        p.order(TO_DEVICE, COMPUTE)
    p.launch("softmax_cross_entropy_backward", [device[one], log_prob_back, device[labels]], [device[dlogits]], mean)
    p.launch("matmul", [x_back, device[dlogits]], [device[grad]], [{"name": "transpose_a", "ints": [1]}], workspace=WORKSPACE)
    if staged:
        p.order(COMPUTE, TO_DEVICE)
        p.copy(TO_DEVICE, host[x], next_x)
    p.launch("sgd", [device[w], device[grad], device[rate]], [updated],
             [{"name": "momentum", "number": 0.0}, {"name": "weight_decay", "number": 0.0}], in_place=[(0, 0)])
    p.order(TO_HOST, COMPUTE)
    return p


def inference():
    p = Plan()
    x = p.tensor("x", "Input", "F32", [BATCH, FEATURES])
    w = p.tensor("w", "Parameter", "F32", [FEATURES, CLASSES], initial={"kind": "Stored"})
    y = p.tensor("scores", "Output", "F32", [BATCH, CLASSES])
    x_host, y_host = p.buffer(x, "Host"), p.buffer(y, "Host")
    x_device, w_device, y_device = p.buffer(x), p.buffer(w), p.buffer(y)
    p.tensors[x]["entry"] = x_host
    p.tensors[y]["exit"] = y_host
    p.tensors[w].update(entry=w_device, exit=w_device)
    p.order(COMPUTE, TO_DEVICE)
    p.copy(TO_DEVICE, x_host, x_device)
    p.order(TO_HOST, COMPUTE)
    p.order(TO_DEVICE, COMPUTE)
    p.launch("matmul", [x_device, w_device], [y_device], workspace=WORKSPACE)
    p.order(COMPUTE, TO_HOST)
    p.copy(TO_HOST, y_device, y_host)
    return p


def write_npy(path, descr, shape, content):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content)


def write_safetensors(path, name):
    """One tensor of the shape of the parameter `w`."""
    header = json.dumps({name: {"dtype": "F32", "shape": [FEATURES, CLASSES], "data_offsets": [0, 4 * FEATURES * CLASSES]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack(f"<{FEATURES * CLASSES}f", *range(FEATURES * CLASSES)))


def write_data(folder, name, count, seed):
    """Class c has its largest feature at c, with noise that leaves it so."""
    samples, labels = [], []
    for i in range(count):
        label = i % CLASSES
        for feature in range(FEATURES):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            samples.append((1.0 if feature == label else 0.0) + (seed >> 40) / 2**24 * 0.5)
        labels.append(label)
    write_npy(os.path.join(folder, name + "_x.npy"), "<f4", (count, FEATURES), struct.pack(f"<{len(samples)}f", *samples))
    write_npy(os.path.join(folder, name + "_labels.npy"), "<i4", (count,), struct.pack(f"<{count}i", *labels))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, plan, policy in (("none", training(False), "none"), ("offload", training(True), "all"),
                               ("staged", training(False, staged=True), "none"),
                               ("model", training(True, "model"), "all"), ("wrong", training(False, seed_of_gradient=2.0), "none"), ("infer", inference(), "none")):
        plan.write(os.path.join(folder, name + ".json"), policy)
    race = training(True)
    waits = [c for c in race.commands if c["kind"] == "Wait"]
    race.commands.remove(waits[3])  # prefetch before the offload is done
    race.write(os.path.join(folder, "race.json"), "all")
    for name, fingerprint in (("anywhere", ""), ("elsewhere", "onednn 1.0; threads 3")):
        plan = training(False)
        plan.fingerprint = fingerprint
        plan.write(os.path.join(folder, name + ".json"), "none")
    marked = training(False)
    marked.kernels[0]["nondeterministic"] = True
    marked.write(os.path.join(folder, "marked.json"), "none")
    marked.write(os.path.join(folder, "varying.json"), "none", allow_nondeterministic=True)
    for name, tensor in (("other", "v"), ("full", "w")):
        write_safetensors(os.path.join(folder, name + ".safetensors"), tensor)
    write_data(folder, "train", 64, 1)
    write_data(folder, "test", 21, 2)


main()
