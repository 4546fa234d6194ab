//===- FakeDevice.h - a device in memory that logs what it is asked to do -===//

#ifndef VDNN_TEST_UNIT_EXEC_FAKEDEVICE_H
#define VDNN_TEST_UNIT_EXEC_FAKEDEVICE_H

#include "runtime/exec/Device.h"

#include <map>
#include <string>
#include <vector>

namespace vdnn::test {

/// What a FakeDevice leaves behind: outlives the device.
struct FakeLog {
  std::vector<std::string> calls;
  /// Makes the launch of this command fail at `synchronize`.
  int failingCommand = -1;
  /// Steps can be captured: the commands of one are called at each replay.
  bool captures = false;
  /// The end of a capture fails.
  bool failCapture = false;
  /// The host can wait for a mark alone; and what that wait, or noting when a
  /// stream is done, fails with.
  bool marks = false;
  std::string markError;
  std::string callbackError;
  /// Flips a byte of every copy to the device.
  bool corruptCopies = false;
  /// What the device demands of offsets; ToyPlan packs its floats densely.
  uint64_t alignment = 4;
  rt::DeviceMemory memory;
  /// The device has a tracer of its own, or an error that says why not.
  bool traces = false;
  std::string traceError;
  bool failTake = false; ///< the tracer loses what it noted
  int64_t clockNs = 0;   ///< advanced by 10 at each call
  int64_t hostNs = 0;    ///< and by this whenever the host arena is asked for
};

/// Does everything at once, in the order of submission, which is one of the
/// orders that a sound plan allows. Its kernels are those of ToyPlan.
std::unique_ptr<rt::Device> createFakeDevice(FakeLog &log,
                                             const std::string &kind = "cpu");

} // namespace vdnn::test

#endif
