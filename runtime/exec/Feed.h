//===- Feed.h - the inputs of each step -----------------------------------===//

#ifndef VDNN_RUNTIME_EXEC_FEED_H
#define VDNN_RUNTIME_EXEC_FEED_H

#include "runtime/exec/Executor.h"
#include "runtime/support/Workers.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace vdnn::rt {

struct FeedOptions {
  /// By input: a `.npy` or `.pb` file, or "synthetic". Inputs not named are
  /// synthetic.
  std::map<std::string, std::string> sources;
  /// Order of the samples: as in the files, or at random, another order each
  /// pass.
  std::optional<uint64_t> shuffle;
  /// For synthetic data.
  uint64_t seed = 0;
  /// Whether the last batch of a pass may be short: it is filled up with the
  /// pass's first samples. Else the samples that do not fill a batch are left
  /// out of the pass.
  bool partial = false;
};

/// Where the inputs come from. A file holds samples along its first dimension;
/// a plan takes a batch of them per step. A scalar's file is used in every
/// step. Element types are converted where every value stays exact. What step n
/// gets depends on n alone, so a resumed run goes on where it stopped.
class Feed {
public:
  static Result<Feed> create(const schedule::ScheduleT &schedule,
                             const FeedOptions &options);

  /// Samples per pass and per step. Without files, one synthetic batch is all.
  uint64_t samples() const { return samples_; }
  uint64_t batch() const { return batch_; }

  uint64_t stepsPerPass() const { return stepsPerPass_; }

  /// How many of the batch of step `step` are samples and not filling.
  uint64_t samplesIn(uint64_t step) const;

  /// Inputs for which there is no file.
  const std::vector<std::string> &synthetic() const { return synthetic_; }

  /// Writes the inputs of step `step` to the host arena, but for the staged
  /// ones. A buffer that still holds what is to be written is left alone.
  Status fill(Executor &executor, uint64_t step) {
    return fill(executor, step, /*staged=*/false);
  }

  /// Writes the staged inputs of step `step` to their staging buffers, which no
  /// copy may be reading. There are some where `stages`.
  Status stage(Executor &executor, uint64_t step) {
    return fill(executor, step, /*staged=*/true);
  }
  bool stages() const;

private:
  /// Samples from `first` on, in the order of a pass; always 0 and 0 of what is
  /// the same in every step.
  struct Rows {
    uint64_t pass = 0;
    uint64_t first = 0;
    bool operator==(const Rows &) const = default;
  };

  /// What was last put into an input's buffer, and the revision that made.
  struct Filled {
    Rows rows;
    uint64_t revision = 0;
    bool operator==(const Filled &) const = default;
  };

  struct Source {
    uint32_t tensor;
    HostTensor data;
    /// One sample per row, a batch per step; else the same value in every step.
    bool batched;
    bool staged;
    std::optional<Filled> filled;
  };

  Status fill(Executor &executor, uint64_t step, bool staged);
  void fillRows(const Source &source, const schedule::TensorT &tensor,
                uint64_t begin, std::span<std::byte> destination);
  uint64_t rowAt(const Source &source, uint64_t position) const;
  void inParts(uint64_t rows, uint64_t bytes,
               const std::function<void(uint64_t, uint64_t)> &work);

  Status addSource(const schedule::ScheduleT &schedule, uint32_t index,
                   const std::string &path);
  Status addSynthetic(const schedule::ScheduleT &schedule, uint32_t index,
                      uint64_t seed);
  Status agree(const schedule::ScheduleT &schedule, bool partial);
  void shuffle(uint64_t pass);

  std::vector<Source> sources_;
  std::vector<std::string> synthetic_;
  std::optional<uint64_t> seed_;
  uint64_t samples_ = 1;
  uint64_t batch_ = 1;
  uint64_t stepsPerPass_ = 1;
  std::vector<uint64_t> order_; // of the pass below; empty: as in the files
  std::optional<uint64_t> orderPass_;
  std::unique_ptr<Workers> workers_; // once there is enough to do
};

} // namespace vdnn::rt

#endif
