//===- Overlap.h - how much of some intervals lies under others -----------===//

#ifndef VDNN_RUNTIME_EXEC_OVERLAP_H
#define VDNN_RUNTIME_EXEC_OVERLAP_H

#include <cstdint>
#include <vector>

namespace vdnn::rt {

/// [begin, end), ns. Empty where it does not end after it begins.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

/// The time that copies of one direction took, counted once where they overlap.
struct CopyTime {
  int64_t copyNs = 0;
  int64_t hiddenNs = 0; ///< while kernels ran

  int64_t exposedNs() const { return copyNs - hiddenNs; }
};

/// Neither list need be sorted or free of overlaps.
CopyTime overlap(std::vector<Interval> copies, std::vector<Interval> kernels);

} // namespace vdnn::rt

#endif
