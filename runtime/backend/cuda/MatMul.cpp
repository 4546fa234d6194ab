//===- MatMul.cpp - matrix product by cuBLASLt ----------------------------===//
//
// An algorithm is how numbers are multiplied ("f32", "tf32", "bf16"), with a
// fixed workspace or without one (":ws0"). cuBLASLt cannot be asked about a
// device that is not here: `build` takes the first choice of its heuristics,
// which follows from the shapes, the device and the library's version. Where it
// splits the inner dimension, parts go through the workspace and are summed in
// order. Of kernels that are marked nondeterministic alone they may be added to
// the result as they are ready (":inplace"): in its type, so that it must be
// f32.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/common/MatMulShape.h"
#include "runtime/backend/cuda/Factories.h"

#include <iterator>
#include <span>

namespace vdnn::rt::cuda {

using schedule::ElementType;

namespace {

struct Algorithm {
  const char *name;
  ElementType input;
  cublasComputeType_t compute;
  uint64_t workspaceBytes;
  bool reducedPrecision;
  cublasLtReductionScheme_t reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

  /// cuBLASLt adds in place one part after the other, and does not say in which
  /// order.
  bool isNondeterministic() const {
    return reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE;
  }
  bool takes(ElementType factors, ElementType result) const {
    return factors == input &&
           (!isNondeterministic() || result == ElementType::F32);
  }
};

/// A product as cuBLASLt takes it. Its matrices are column major, so it is
/// asked for the transposed product: y^T = b^T a^T.
struct Product {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t left, right, result;
  cublasLtMatmulAlgo_t algorithm;
};

} // namespace

/// What NVIDIA recommends for this generation.
static constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20;

/// Alignment of operands, in bytes.
static constexpr uint32_t kAlignment = 64;

/// The fastest first, but those in place, which few products have.
static constexpr Algorithm kAlgorithms[] = {
    {"tf32", ElementType::F32, CUBLAS_COMPUTE_32F_FAST_TF32, kWorkspaceBytes,
     true},
    {"tf32:ws0", ElementType::F32, CUBLAS_COMPUTE_32F_FAST_TF32, 0, true},
    {"f32", ElementType::F32, CUBLAS_COMPUTE_32F, kWorkspaceBytes, false},
    {"f32:ws0", ElementType::F32, CUBLAS_COMPUTE_32F, 0, false},
    {"bf16", ElementType::BF16, CUBLAS_COMPUTE_32F, kWorkspaceBytes, false},
    {"bf16:ws0", ElementType::BF16, CUBLAS_COMPUTE_32F, 0, false},
    {"tf32:inplace", ElementType::F32, CUBLAS_COMPUTE_32F_FAST_TF32,
     kWorkspaceBytes, true, CUBLASLT_REDUCTION_SCHEME_INPLACE},
    {"f32:inplace", ElementType::F32, CUBLAS_COMPUTE_32F, kWorkspaceBytes,
     false, CUBLASLT_REDUCTION_SCHEME_INPLACE},
    {"bf16:inplace", ElementType::BF16, CUBLAS_COMPUTE_32F, kWorkspaceBytes,
     false, CUBLASLT_REDUCTION_SCHEME_INPLACE},
};

/// `a` and `b` f32 or bf16, the result like them or f32, the bias like it.
static Status expectElements(const LaunchTypes &types) {
  ElementType input = types.reads[0]->element == ElementType::BF16
                          ? ElementType::BF16
                          : ElementType::F32;
  VDNN_TRY(expectElement(*types.reads[0], input, "a"));
  VDNN_TRY(expectElement(*types.reads[1], input, "b"));
  ElementType result = types.writes[0]->element;
  if (result != input) {
    VDNN_TRY(expectElement(*types.writes[0], ElementType::F32, "y"));
  }
  return types.reads.size() == 3
             ? expectElement(*types.reads[2], result, "bias")
             : Status();
}

/// Checks the operands.
static Result<MatMulShape> parse(const Request &request) {
  Result<MatMulShape> shape = MatMulShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  VDNN_TRY(expectElements(request.types));
  if (shape->batch == 0 || shape->m == 0 || shape->n == 0 || shape->k == 0) {
    return Error{"a dimension is empty: 'a' has shape " +
                 toString(request.types.reads[0]->shape) + ", 'y' " +
                 toString(request.types.writes[0]->shape)};
  }
  return shape;
}

/// Empty: the first in full precision.
static Result<const Algorithm *> findAlgorithm(const Request &request) {
  const std::string &name = request.kernel.algorithm;
  std::string known;
  for (const Algorithm &algorithm : kAlgorithms) {
    if (!algorithm.takes(request.types.reads[0]->element,
                         request.types.writes[0]->element)) {
      continue;
    }
    if (name.empty() ? !algorithm.reducedPrecision : name == algorithm.name) {
      if (algorithm.isNondeterministic() && !request.kernel.nondeterministic) {
        return refuseNondeterministic(request);
      }
      return &algorithm;
    }
    known += std::string(known.empty() ? "'" : ", '") + algorithm.name + "'";
  }
  return Error{"unknown algorithm '" + name + "'; expected one of " + known};
}

//===----------------------------------------------------------------------===//
// cuBLASLt's descriptions
//===----------------------------------------------------------------------===//

static cudaDataType_t toCuda(ElementType element) {
  return element == ElementType::BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// A batch of row-major matrices, as cuBLASLt sees them: transposed.
static Status describe(cublasLtMatrixLayoutOpaque_t &layout,
                       ElementType element, int64_t batch, int64_t rows,
                       int64_t columns) {
  VDNN_CUDA(cublasLtMatrixLayoutInit(&layout, toCuda(element), columns, rows,
                                     columns));
  int32_t count = static_cast<int32_t>(batch);
  int64_t stride = rows * columns;
  VDNN_CUDA(cublasLtMatrixLayoutSetAttribute(
      &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
  VDNN_CUDA(cublasLtMatrixLayoutSetAttribute(
      &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
      sizeof(stride)));
  return {};
}

template <typename T>
static Status setAttribute(cublasLtMatmulDescOpaque_t &operation,
                           cublasLtMatmulDescAttributes_t name, T value) {
  VDNN_CUDA(
      cublasLtMatmulDescSetAttribute(&operation, name, &value, sizeof(value)));
  return {};
}

template <typename T>
static Status setAttribute(cublasLtMatmulPreferenceOpaque_t &preference,
                           cublasLtMatmulPreferenceAttributes_t name, T value) {
  VDNN_CUDA(cublasLtMatmulPreferenceSetAttribute(&preference, name, &value,
                                                 sizeof(value)));
  return {};
}

static Status describe(Product &product, const MatMulShape &shape,
                       const Algorithm &algorithm, ElementType result) {
  auto [batch, m, n, k, transposeA, transposeB, hasBias] = shape;
  VDNN_TRY(describe(product.left, algorithm.input, batch, transposeB ? n : k,
                    transposeB ? k : n));
  VDNN_TRY(describe(product.right, algorithm.input, batch, transposeA ? k : m,
                    transposeA ? m : k));
  VDNN_TRY(describe(product.result, result, batch, m, n));

  VDNN_CUDA(cublasLtMatmulDescInit(&product.operation, algorithm.compute,
                                   CUDA_R_32F));
  VDNN_TRY(setAttribute<int32_t>(product.operation, CUBLASLT_MATMUL_DESC_TRANSA,
                                 transposeB ? CUBLAS_OP_T : CUBLAS_OP_N));
  VDNN_TRY(setAttribute<int32_t>(product.operation, CUBLASLT_MATMUL_DESC_TRANSB,
                                 transposeA ? CUBLAS_OP_T : CUBLAS_OP_N));
  if (hasBias) {
    VDNN_TRY(setAttribute<uint32_t>(product.operation,
                                    CUBLASLT_MATMUL_DESC_EPILOGUE,
                                    CUBLASLT_EPILOGUE_BIAS));
    VDNN_TRY(setAttribute<int32_t>(product.operation,
                                   CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                                   toCuda(result)));
    // The heuristics look at its alignment; each launch sets the address.
    VDNN_TRY(setAttribute<const void *>(
        product.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
        reinterpret_cast<const void *>(uintptr_t{kAlignment})));
  }
  return {};
}

static Result<bool> addsInPlace(const cublasLtMatmulAlgo_t &code) {
  uint32_t reduction = 0;
  size_t written = 0;
  VDNN_CUDA(cublasLtMatmulAlgoConfigGetAttribute(
      &code, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &reduction,
      sizeof(reduction), &written));
  return reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE;
}

static Status chooseCode(cublasLtHandle_t handle, Product &product,
                         const Algorithm &algorithm) {
  cublasLtMatmulPreferenceOpaque_t preference;
  VDNN_CUDA(cublasLtMatmulPreferenceInit(&preference));
  VDNN_TRY(setAttribute<uint64_t>(preference,
                                  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                  algorithm.workspaceBytes));
  VDNN_TRY(setAttribute<uint32_t>(preference,
                                  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                  algorithm.reduction));
  for (auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    VDNN_TRY(setAttribute<uint32_t>(preference, operand, kAlignment));
  }
  // The mask lets through what does not split: among the first there may be no
  // code that adds in place.
  bool inPlace = algorithm.isNondeterministic();
  cublasLtMatmulHeuristicResult_t found[16];
  int count = 0;
  cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, &product.operation, &product.left, &product.right,
      &product.result, &product.result, &preference,
      inPlace ? std::size(found) : 1, found, &count);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) { // Else there are none.
    VDNN_CUDA(status);
  }
  for (const cublasLtMatmulHeuristicResult_t &one : std::span(found, count)) {
    VDNN_CUDA(one.state);
    Result<bool> fits = inPlace ? addsInPlace(one.algo) : Result<bool>(true);
    VDNN_TRY(fits.status());
    if (*fits) {
      product.algorithm = one.algo;
      return {};
    }
  }
  return Error{
      std::string("cuBLASLt has no code ") +
      (inPlace ? "that adds in place " : "") + "for these shapes with " +
      std::to_string(algorithm.workspaceBytes) + " bytes of workspace"};
}

/// Takes a copy: the bias's address is part of the description.
static Status run(cublasLtHandle_t handle, Product product,
                  uint64_t workspaceBytes, const Operands &operands) {
  if (operands.reads.size() == 3) {
    VDNN_TRY(setAttribute<const void *>(product.operation,
                                        CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                        operands.reads[2]));
  }
  const float one = 1, zero = 0;
  VDNN_CUDA(cublasLtMatmul(
      handle, &product.operation, &one, operands.reads[1], &product.left,
      operands.reads[0], &product.right, &zero, operands.writes[0],
      &product.result, operands.writes[0], &product.result, &product.algorithm,
      operands.workspace, workspaceBytes, operands.stream));
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result<Kernel> createMatMul(const Request &request) {
  Result<MatMulShape> shape = parse(request);
  VDNN_TRY(shape.status());
  Result<const Algorithm *> found = findAlgorithm(request);
  VDNN_TRY(found.status());
  const Algorithm &algorithm = **found;
  auto product = std::make_shared<Product>();
  VDNN_TRY(
      describe(*product, *shape, algorithm, request.types.writes[0]->element));
  uint64_t workspaceBytes = algorithm.workspaceBytes;
  Kernel kernel;
  kernel.workspaceBytes = workspaceBytes;
  kernel.build = [=, code = *found](Context &context) -> Result<uint64_t> {
    VDNN_TRY(chooseCode(context.cublasLt, *product, *code));
    return workspaceBytes;
  };
  kernel.run = [=](Context &context, const Operands &operands) {
    return run(context.cublasLt, *product, workspaceBytes, operands);
  };
  return kernel;
}

Result<std::vector<KernelCandidate>> queryMatMul(const Request &request) {
  Result<MatMulShape> shape = parse(request);
  VDNN_TRY(shape.status());
  std::vector<KernelCandidate> candidates;
  for (const Algorithm &algorithm : kAlgorithms) {
    if (algorithm.takes(request.types.reads[0]->element,
                        request.types.writes[0]->element) &&
        (request.kernel.nondeterministic || !algorithm.isNondeterministic())) {
      candidates.push_back({algorithm.name, algorithm.workspaceBytes,
                            algorithm.reducedPrecision,
                            algorithm.isNondeterministic()});
    }
  }
  return candidates;
}

} // namespace vdnn::rt::cuda
