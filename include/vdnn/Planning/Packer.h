//===- Packer.h - static offsets for buffers with lifetimes ---------------===//

#ifndef VDNN_PLANNING_PACKER_H
#define VDNN_PLANNING_PACKER_H

#include <cstdint>
#include <string>
#include <vector>

namespace vdnn::planning {

/// A rectangle: alive during the positions [begin, end), `bytes` long at some
/// offset.
struct Interval {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t bytes = 0;
};

struct Packing {
  /// Per interval, a multiple of the alignment.
  std::vector<uint64_t> offsets;
  /// Largest offset + bytes, rounded up to the alignment.
  uint64_t peak = 0;
  /// Largest sum of live (aligned) bytes at any position: no packing is
  /// smaller.
  uint64_t lowerBound = 0;
  /// Which order of the portfolio gave it; for people.
  std::string method;
};

struct PackOptions {
  /// Where no order reaches the bound: how many nodes an exact search may
  /// visit. A node takes time in proportion to the number of intervals, 5 to 20
  /// us for a few hundred.
  uint64_t searchNodes = 0;
};

/// Bottom-up skyline under several orders, stopped at the first that reaches
/// the lower bound; then, if asked, a search. The best packing found.
/// Deterministic: limits count work, not time.
Packing pack(const std::vector<Interval> &intervals, uint64_t alignment,
             const PackOptions &options = {});

} // namespace vdnn::planning

#endif
