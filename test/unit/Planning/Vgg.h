//===- Vgg.h - the VGG networks of the vDNN paper as problems -------------===//

#ifndef VDNN_TEST_UNIT_PLANNING_VGG_H
#define VDNN_TEST_UNIT_PLANNING_VGG_H

#include "vdnn/Planning/Problem.h"

namespace vdnn::planning::test {

/// One SGD step of VGG-16 on 224 x 224 images in fp32, with ReLU in place, on a
/// Titan X (7 TFLOP/s, PCIe at 12.8 GB/s). `extra` convolutions are added to
/// each of the five groups: 20 make VGG-116.
Problem vgg16(uint32_t batch, uint32_t extra = 0);

/// The position of the backward op of that layer ("d.pool1").
OpId findOp(const Problem &problem, const std::string &name);
TensorId findTensor(const Problem &problem, const std::string &name);

} // namespace vdnn::planning::test

#endif
