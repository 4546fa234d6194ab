//===- Factories.h - the kernel factories, by file ------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CPU_FACTORIES_H
#define VDNN_RUNTIME_BACKEND_CPU_FACTORIES_H

#include "runtime/backend/cpu/Kernel.h"

namespace vdnn::rt::cpu {

// BatchNorm.cpp
Result<Kernel> createBatchNorm(const Request &request);
Result<Kernel> createBatchNormBackward(const Request &request);
Result<Kernel> createBatchNormInference(const Request &request);
// Conv.cpp
Result<Kernel> createConv(const Request &request);
Result<Kernel> createConvBackwardData(const Request &request);
Result<Kernel> createConvBackwardFilter(const Request &request);
// Dropout.cpp
Result<Kernel> createDropout(const Request &request);
// Loss.cpp
Result<Kernel> createSoftmaxCrossEntropy(const Request &request);
Result<Kernel> createSoftmaxCrossEntropyBackward(const Request &request);
// Lrn.cpp
Result<Kernel> createLrn(const Request &request);
Result<Kernel> createLrnBackward(const Request &request);
// MatMul.cpp
Result<Kernel> createMatMul(const Request &request);
// Pointwise.cpp
Result<Kernel> createPointwise(const Request &request);
// Pool.cpp, PoolBackward.cpp
Result<Kernel> createAvgPool(const Request &request);
Result<Kernel> createMaxPool(const Request &request);
Result<Kernel> createAvgPoolBackward(const Request &request);
Result<Kernel> createMaxPoolBackward(const Request &request);
// Reduce.cpp
Result<Kernel> createReduce(const Request &request);
// Shape.cpp
Result<Kernel> createConcat(const Request &request);
Result<Kernel> createReorder(const Request &request);
Result<Kernel> createSlice(const Request &request);
Result<Kernel> createTranspose(const Request &request);
// Softmax.cpp
Result<Kernel> createSoftmax(const Request &request);
Result<Kernel> createSoftmaxBackward(const Request &request);
// Update.cpp
Result<Kernel> createSgd(const Request &request);
Result<Kernel> createSgdGroup(const Request &request);

} // namespace vdnn::rt::cpu

#endif
