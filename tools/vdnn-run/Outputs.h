//===- Outputs.h - what is kept of every step's outputs -------------------===//

#ifndef VDNN_TOOLS_VDNNRUN_OUTPUTS_H
#define VDNN_TOOLS_VDNNRUN_OUTPUTS_H

#include "Options.h"

namespace vdnn::tool {

/// Collects outputs over all steps and writes them as `.npy` files. An output
/// whose first dimension is the batch becomes one row per sample, without the
/// filling of the last batch; every other output becomes one entry per step.
class OutputFiles {
public:
  static rt::Result<OutputFiles>
  create(rt::Session &session, const std::map<std::string, std::string> &files);

  /// After step number `step`.
  rt::Status collect(rt::Session &session, uint64_t step);

  rt::Status write() const;

private:
  struct Entry {
    uint32_t tensor;
    std::string path;
    schedule::ElementType element;
    std::vector<int64_t> shape; // of the file
    bool batched;
    std::vector<std::byte> bytes;
  };
  std::vector<Entry> entries_;
};

/// Counts how often the largest of a sample's scores is that of its label.
class Accuracy {
public:
  /// `path`: a `.npy` or `.pb` file of one integer per sample. Scores are the
  /// first floating-point output of shape [batch, classes].
  static rt::Result<Accuracy> create(rt::Session &session,
                                     const std::string &path);

  rt::Status collect(rt::Session &session, uint64_t step);

  uint64_t right() const { return right_; }
  uint64_t total() const { return total_; }

private:
  rt::HostTensor labels_;
  uint32_t tensor_ = 0;
  uint64_t right_ = 0;
  uint64_t total_ = 0;
};

} // namespace vdnn::tool

#endif
