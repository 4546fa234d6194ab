//===- ConvGraph.h - a convolution kernel as cuDNN's graph and our steps --===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_CONVGRAPH_H
#define VDNN_RUNTIME_BACKEND_CUDA_CONVGRAPH_H

#include "runtime/backend/cuda/Cudnn.h"
#include "runtime/backend/cuda/Kernel.h"

#include <string_view>

namespace vdnn::rt::cuda {

/// What kernels of ours do beside cuDNN's. An algorithm's text has it behind
/// the engine: "cudnn:e12,k2=3+pad+bias".
struct ConvVariant {
  /// Few channels, as images have, are filled up with zeros to 16 bytes: fast
  /// engines take no fewer.
  bool padsChannels = false;
  /// Bias and ReLU are computed behind the convolution: not every engine can.
  bool addsBias = false;

  std::string suffix() const {
    return std::string(padsChannels ? kPad : "") + (addsBias ? kBias : "");
  }
  /// Takes the suffix off `algorithm`.
  static ConvVariant take(std::string &algorithm);

  static constexpr const char *kPad = "+pad", *kBias = "+bias";
};

struct ConvGraph {
  /// Work before or behind cuDNN's. `own` is our part of the workspace;
  /// `pointers` are those of `nodes`.
  using Step = std::function<cudaError_t(const Operands &, std::byte *own,
                                         std::vector<void *> &pointers)>;

  cudnn::Graph graph;
  /// The tensors of the command's first reads, then of its first result.
  std::vector<cudnn::Node> nodes;
  schedule::ElementType element = schedule::ElementType::F32;
  std::string direction;   ///< the kind of the kernel
  bool asymmetric = false; ///< different padding at both ends
  std::vector<Step> before = {}, behind = {};
  uint64_t ownBytes = 0; ///< of our part of the workspace

  /// Of a convolution kernel in a way that suits it, else an error.
  static Result<ConvGraph> describe(const Request &request,
                                    ConvVariant variant);

  /// The ways that suit a kernel, the likely best first.
  static std::vector<ConvVariant> variants(const Request &request);

  /// Takes bytes of our part of the workspace; their offset.
  uint64_t reserve(uint64_t bytes);
};

} // namespace vdnn::rt::cuda

#endif
