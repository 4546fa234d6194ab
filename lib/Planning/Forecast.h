//===- Forecast.h - when copies end, before there is a program ------------===//

#ifndef VDNN_LIB_PLANNING_FORECAST_H
#define VDNN_LIB_PLANNING_FORECAST_H

#include "vdnn/Planning/Solution.h"

namespace vdnn::planning {

/// Per transfer: when its copy to the host would end if the compute stream
/// never waited, ns. Copies queue on their link. An input, of which the host
/// still has a copy, ends as soon as it may start.
std::vector<int64_t> forecastOffloads(const Problem &problem,
                                      const Solution &solution);

/// Per transfer: for how long the compute stream waits for its two copies, ns.
/// Walks the ops once; an estimate for people, `predict` is exact.
std::vector<int64_t> forecastWaits(const Problem &problem,
                                   const Solution &solution);

/// "41.2 ms", "96.0 MiB".
std::string formatTime(int64_t ns);
std::string formatBytes(uint64_t bytes);

} // namespace vdnn::planning

#endif
