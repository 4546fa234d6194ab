//===- Example.h - a small schedule with something in every table ---------===//

#ifndef VDNN_TEST_UNIT_SCHEDULE_EXAMPLE_H
#define VDNN_TEST_UNIT_SCHEDULE_EXAMPLE_H

namespace vdnn::schedule::test {

inline constexpr char kExample[] = R"({
  "version": 1,
  "producer": "test",
  "target": {"kind": "cpu", "name": "any", "fingerprint": "f"},
  "link": {"device_to_host_bytes_per_second": 1e9, "host_to_device_bytes_per_second": 2e9, "latency_ns": 5},
  "device_arena": 16,
  "host_arena": 16,
  "tensors": [
    {"name": "w", "role": "Parameter", "type": {"element": "F32", "shape": [2, 2]}, "bytes": 16, "decision": "Offload",
     "reason": "idle 4 ms", "entry": 0, "exit": 0, "initial": {"kind": "Normal", "b": 0.5}}
  ],
  "buffers": [
    {"name": "w", "tensor": 0, "arena": "Device", "bytes": 16, "alignment": 16},
    {"name": "w.host", "tensor": 0, "arena": "Host", "bytes": 16, "alignment": 16}
  ],
  "types": [{"element": "F32", "shape": [2, 2]}],
  "streams": [{"name": "compute"}, {"name": "d2h", "kind": "DeviceToHost"}],
  "kernels": [
    {"kind": "pointwise", "algorithm": "simple",
     "attributes": [{"name": "axes", "ints": [3, 1]}, {"name": "alpha", "number": 0.25}, {"name": "mode", "text": "same"}],
     "program": [{"code": "constant", "constant": 2.0}, {"code": "mulf", "operands": [0, 1]}],
     "program_results": []}
  ],
  "event_count": 1,
  "commands": [
    {"kind": "Launch", "kernel": 0, "reads": [{"buffer": 0, "type": 0}], "location": "relu1", "predicted_ns": 7},
    {"kind": "Record", "event": 0},
    {"kind": "Wait", "stream": 1, "event": 0},
    {"kind": "Copy", "stream": 1, "reads": [{"buffer": 0, "type": 0}], "writes": [{"buffer": 1, "type": 0}]}
  ],
  "summary": {"policy": "all"}
})";

} // namespace vdnn::schedule::test

#endif
