//===- MatMul.cpp - matrix product ----------------------------------------===//

#include "runtime/backend/common/MatMulShape.h"
#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Factories.h"

namespace vdnn::rt::cpu {

using dnnl::memory;

/// A batch of matrices, `rows` x `columns` after the transposition.
static memory::desc describe(int64_t batch, int64_t rows, int64_t columns,
                             bool transposed) {
  memory::dims strides = {rows * columns, transposed ? 1 : columns,
                          transposed ? rows : 1};
  return {{batch, rows, columns}, memory::data_type::f32, strides};
}

Result<Kernel> createMatMul(const Request &request) {
  VDNN_TRY(expectAllF32(request));
  Result<MatMulShape> shape = MatMulShape::parse(request.kernel, request.types);
  VDNN_TRY(shape.status());
  auto [batch, m, n, k, transposeA, transposeB, hasBias] = *shape;

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
