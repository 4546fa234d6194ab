//===- MatMul.cpp - matrix product ----------------------------------------===//

#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Factories.h"

namespace vdnn::rt::cpu {

using dnnl::memory;
using schedule::TypeT;

/// A batch of matrices, `rows` x `columns` after the transposition.
static memory::desc describe(int64_t batch, int64_t rows, int64_t columns,
                             bool transposed) {
  memory::dims strides = {rows * columns, transposed ? 1 : columns,
                          transposed ? rows : 1};
  return {{batch, rows, columns}, memory::data_type::f32, strides};
}

Result<Kernel> createMatMul(const Request &request) {
  VDNN_TRY(expectArity(request, {2, 3, 1, 1}));
  VDNN_TRY(expectAllF32(request));
  const TypeT &a = *request.types.reads[0], &b = *request.types.reads[1],
              &y = *request.types.writes[0];
  size_t rank = a.shape.size();
  if (rank < 2 || b.shape.size() != rank) {
    return Error{"expected 'a' and 'b' of one rank, at least 2, found shapes " +
                 toString(a.shape) + " and " + toString(b.shape)};
  }
  VDNN_TRY(expectLayout(a, schedule::Layout::RowMajor, "a"));
  VDNN_TRY(expectLayout(b, schedule::Layout::RowMajor, "b"));
  VDNN_TRY(expectLayout(y, schedule::Layout::RowMajor, "y"));
  bool transposeA = schedule::getInt(request.kernel, "transpose_a") != 0;
  bool transposeB = schedule::getInt(request.kernel, "transpose_b") != 0;
  int64_t m = a.shape[rank - (transposeA ? 1 : 2)],
          k = a.shape[rank - (transposeA ? 2 : 1)];
  int64_t n = b.shape[rank - (transposeB ? 2 : 1)];
  std::vector<int64_t> batchShape(a.shape.begin(), a.shape.end() - 2);
  std::vector<int64_t> expectedB = batchShape, expectedY = batchShape;
  expectedB.insert(expectedB.end(), {transposeB ? n : k, transposeB ? k : n});
  expectedY.insert(expectedY.end(), {m, n});
  VDNN_TRY(expectShape(b, expectedB, "b"));
  VDNN_TRY(expectShape(y, expectedY, "y"));
  bool hasBias = request.types.reads.size() == 3;
  if (hasBias) {
    VDNN_TRY(expectShape(*request.types.reads[2], {n}, "bias"));
  }
  int64_t batch = countElements(batchShape);

  Result<Kernel> kernel = Error{};
  VDNN_TRY(catchDnnl([&] {
    memory::desc aDesc = describe(batch, m, k, transposeA),
                 bDesc = describe(batch, k, n, transposeB);
    memory::desc yDesc = describe(batch, m, n, false);
    memory::desc biasDesc({1, 1, n}, memory::data_type::f32,
                          memory::dims{n, n, 1});
    if (batch == 1) {
      // The two-dimensional product has better code.
      aDesc = aDesc.reshape({m, k});
      bDesc = bDesc.reshape({k, n});
      yDesc = yDesc.reshape({m, n});
      biasDesc = biasDesc.reshape({1, n});
    }
    auto operation = hasBias ? dnnl::matmul::desc(aDesc, bDesc, biasDesc, yDesc)
                             : dnnl::matmul::desc(aDesc, bDesc, yDesc);
    dnnl::matmul::primitive_desc desc(operation, dnnlAttributes(),
                                      dnnlEngine());
    std::vector<DnnlProgram::Argument> arguments = {
        {DNNL_ARG_SRC, aDesc, {Place::Read, 0}},
        {DNNL_ARG_WEIGHTS, bDesc, {Place::Read, 1}},
        {DNNL_ARG_DST, yDesc, {Place::Write, 0}}};
    if (hasBias) {
      arguments.push_back({DNNL_ARG_BIAS, biasDesc, {Place::Read, 2}});
    }
    auto program = std::make_shared<DnnlProgram>();
    program->add(desc, std::move(arguments));
    kernel = DnnlProgram::finish(program);
    return Status();
  }));
  return kernel;
}

} // namespace vdnn::rt::cpu
