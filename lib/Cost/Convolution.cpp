//===- Convolution.cpp - what the algorithms for convolutions cost --------===//
//
// Names follow cuDNN's. The formulas are the algorithms' textbook descriptions,
// not a library's measured workspaces, which only a profile can know.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "vdnn/Dialect/Shapes.h"
#include "vdnn/Dialect/VDNN.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace vdnn;

template <typename Op>
static Convolution makeConvolution(Op op, Value input, Value filter,
                                   Value output) {
  ArrayRef<int64_t> x = cast<ShapedType>(input.getType()).getShape();
  ArrayRef<int64_t> w = cast<ShapedType>(filter.getType()).getShape();
  auto yType = cast<ShapedType>(output.getType());
  ArrayRef<int64_t> y = yType.getShape();
  auto isOne = [](int64_t value) { return value == 1; };
  return {.batch = double(x[0]),
          .channels = double(x[1]),
          .filters = double(y[1]),
          .group = double(op.getGroup()),
          .elementBytes = yType.getElementTypeBitWidth() / 8.0,
          .kernel = llvm::to_vector(w.drop_front(2)),
          .output = llvm::to_vector(y.drop_front(2)),
          .unitStride = llvm::all_of(op.getStrides(), isOne) &&
                        llvm::all_of(op.getDilations(), isOne)};
}

std::optional<Convolution> vdnn::readConvolution(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Convolution>>(op)
      .Case([](ConvOp conv) {
        return makeConvolution(conv, conv.getX(), conv.getW(), conv.getY());
      })
      .Case([](ConvBackwardDataOp conv) {
        return makeConvolution(conv, conv.getDx(), conv.getW(), conv.getDy());
      })
      .Case([](ConvBackwardFilterOp conv) {
        return makeConvolution(conv, conv.getX(), conv.getDw(), conv.getDy());
      })
      .Default([](Operation *) { return std::nullopt; });
}

const Efficiencies &vdnn::getAlgorithms(const DeviceFile &file, Operation *op) {
  if (isa<ConvBackwardDataOp>(op)) {
    return file.convBackwardData;
  }
  return isa<ConvBackwardFilterOp>(op) ? file.convBackwardFilter
                                       : file.convForward;
}

static double directFlops(const Convolution &conv) {
  return 2 * conv.batch * conv.filters * product(conv.output) *
         (conv.channels / conv.group) * product(conv.kernel);
}

/// One matrix product whose left side, the unfolded input, is never stored:
/// offsets are computed as they are needed.
static AlgorithmCost implicitGemm(const Convolution &conv) {
  return {directFlops(conv), 0, 0};
}

/// The same with the offsets in a table: a 32-bit number for each row of the
/// unfolded input (channel and position of the filter) and for each column of
/// one image (position of the output). After the description of implicit GEMM
/// in Chetlur et al., "cuDNN: efficient primitives for deep learning", 2014,
/// section 3.
static AlgorithmCost implicitPrecompGemm(const Convolution &conv) {
  double entries =
      conv.channels / conv.group * product(conv.kernel) + product(conv.output);
  return {directFlops(conv), uint64_t(4 * entries), 4 * entries * 2};
}

/// Products in the frequency domain, one spatial tile of 32 x 32 at a time (a
/// tile yields 32 - k + 1 outputs per dimension). Workspace: the half spectra
/// (32 x 17 complex numbers of 8 bytes) of one tile of every image and channel,
/// of all filters and of the results. Work: 4 real multiply-adds per complex
/// one, and 2.5 n log2 n operations per real transform of n points. After
/// Vasilache et al., "Fast convolutional nets with fbfft", 2015, sections 2
/// and 6.
static AlgorithmCost fftTiling(const Convolution &conv) {
  constexpr double kTile = 32;
  constexpr double kSpectrum = kTile * (kTile / 2 + 1);
  constexpr double kTransform = 2.5 * kTile * kTile * 10; // log2(32 * 32)
  double tiles = 1;
  for (auto [kernel, output] : llvm::zip(conv.kernel, conv.output)) {
    tiles *= std::ceil(double(output) / (kTile - double(kernel) + 1));
  }
  double planes = conv.batch * (conv.channels + conv.filters);
  double filters = conv.channels * conv.filters;
  double products = 8 * kSpectrum * conv.batch * filters * tiles;
  double transforms = kTransform * (planes * tiles + filters);
  return {products + transforms, uint64_t(8 * kSpectrum * (planes + filters)),
          2 * 8 * kSpectrum * (planes * tiles + filters)};
}

/// F(2x2, 3x3): 16 multiplies for 4 outputs instead of 36, transforms in the
/// kernel (about 32 additions per input tile and 24 per output tile).
/// Workspace: the transformed filters. After Lavin and Gray, "Fast algorithms
/// for convolutional neural networks", 2016, section 4.1.
static AlgorithmCost winograd(const Convolution &conv) {
  double tiles = conv.batch * std::ceil(conv.output[0] / 2.0) *
                 std::ceil(conv.output[1] / 2.0);
  double filters = conv.channels * conv.filters;
  double flops = 2 * 16 * tiles * filters +
                 tiles * (32 * conv.channels + 24 * conv.filters) +
                 28 * filters;
  return {flops, uint64_t(16 * 4 * filters), 2 * 16 * 4 * filters};
}

/// F(4x4, 3x3): 36 multiplies for 16 outputs instead of 144. Workspace:
/// transformed input, filters and output of the whole batch. After Lavin and
/// Gray, section 4.3 (156 operations per input tile, 72 per filter, 90 per
/// output tile).
static AlgorithmCost winogradNonfused(const Convolution &conv) {
  double tiles = conv.batch * std::ceil(conv.output[0] / 4.0) *
                 std::ceil(conv.output[1] / 4.0);
  double filters = conv.channels * conv.filters;
  double numbers = 36 * (tiles * (conv.channels + conv.filters) + filters);
  double flops = 2 * 36 * tiles * filters +
                 tiles * (156 * conv.channels + 90 * conv.filters) +
                 72 * filters;
  return {flops, uint64_t(4 * numbers), 2 * 4 * numbers};
}

std::optional<AlgorithmCost>
vdnn::getAlgorithmCost(const Convolution &conv, const std::string &algorithm) {
  bool isFlat = conv.kernel.size() == 2 && conv.group == 1 && conv.unitStride;
  bool isThree = isFlat && conv.kernel[0] == 3 && conv.kernel[1] == 3;
  // A 1 x 1 filter has nothing to gain, a long one leaves no outputs in a tile.
  bool isTiled = isFlat && llvm::all_of(conv.kernel, [](int64_t k) {
                   return k > 1 && k <= 16;
                 });
  using Cost = std::optional<AlgorithmCost>;
  if (algorithm == "implicit_gemm") {
    return implicitGemm(conv);
  }
  if (algorithm == "implicit_precomp_gemm") {
    return implicitPrecompGemm(conv);
  }
  if (algorithm == "fft_tiling") {
    return isTiled ? Cost(fftTiling(conv)) : std::nullopt;
  }
  if (algorithm == "winograd") {
    return isThree ? Cost(winograd(conv)) : std::nullopt;
  }
  if (algorithm == "winograd_nonfused") {
    return isThree ? Cost(winogradNonfused(conv)) : std::nullopt;
  }
  return std::nullopt;
}
