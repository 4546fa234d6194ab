//===- Overlap.cpp --------------------------------------------------------===//

#include "runtime/exec/Overlap.h"

#include <algorithm>

namespace vdnn::rt {

/// The same time as intervals that are in order and do not touch.
static std::vector<Interval> unite(std::vector<Interval> intervals) {
  std::sort(
      intervals.begin(), intervals.end(),
      [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  std::vector<Interval> united;
  for (const Interval &next : intervals) {
    if (next.end <= next.begin) {
      continue;
    }
    if (!united.empty() && next.begin <= united.back().end) {
      united.back().end = std::max(united.back().end, next.end);
    } else {
      united.push_back(next);
    }
  }
  return united;
}

CopyTime overlap(std::vector<Interval> copies, std::vector<Interval> kernels) {
  std::vector<Interval> a = unite(std::move(copies));
  std::vector<Interval> b = unite(std::move(kernels));
  CopyTime time;
  for (const Interval &copy : a) {
    time.copyNs += copy.end - copy.begin;
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    time.hiddenNs += std::max<int64_t>(0, std::min(a[i].end, b[j].end) -
                                              std::max(a[i].begin, b[j].begin));
    // The one that ends first meets nothing further of the other list.
    ++(a[i].end < b[j].end ? i : j);
  }
  return time;
}

} // namespace vdnn::rt
