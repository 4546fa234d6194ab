//===- CInterfaceMain.cpp - a plan for CInterfaceTest.c -----------------------------------------------------===//

#include "ToyPlan.h"

#include <gtest/gtest.h>

using namespace vdnn;

extern "C" int testCInterface(const char *plan, const char *weights);

namespace {

std::unique_ptr<schedule::AttributeT> attribute(const char *name, const char *text, std::vector<int64_t> ints = {}) {
  auto entry = std::make_unique<schedule::AttributeT>();
  entry->name = name;
  entry->text = text;
  entry->ints = std::move(ints);
  return entry;
}

/// A pointwise kernel of one instruction over two inputs, or one input with itself.
void makePointwise(schedule::KernelT &kernel, const char *code, std::vector<uint32_t> operands, uint32_t result) {
  kernel.kind = "pointwise";
  auto op = std::make_unique<schedule::ScalarOpT>();
  op->code = code;
  op->operands = std::move(operands);
  kernel.program.push_back(std::move(op));
  kernel.program_results = {result};
}

/// The toy plan with kernels that a cpu has; the gradient is the activation itself (its maximum with itself).
schedule::ScheduleT makeCpuPlan() {
  schedule::ScheduleT plan = test::makeToyPlan();
  makePointwise(*plan.kernels[0], "addf", {0, 1}, 2);
  plan.kernels[1]->kind = "reduce";
  plan.kernels[1]->attributes.push_back(attribute("kind", "sum"));
  plan.kernels[1]->attributes.push_back(attribute("axes", "", {0}));
  // A reduction keeps its dimensions: it sees the scalar as a vector of one.
  plan.types.push_back(std::make_unique<schedule::TypeT>());
  plan.types.back()->shape = {1};
  schedule::Operand &sum = plan.commands[10]->writes[0];
  sum = {sum.buffer(), static_cast<uint32_t>(plan.types.size() - 1)};
  auto workspace = std::make_unique<schedule::BufferT>();
  workspace->name = "workspace";
  workspace->offset = 64;
  workspace->bytes = 4096;
  workspace->alignment = 64;
  plan.device_arena = workspace->offset + workspace->bytes;
  plan.commands[10]->workspace = static_cast<int32_t>(plan.buffers.size());
  plan.buffers.push_back(std::move(workspace));
  makePointwise(*plan.kernels[2], "maximumf", {0, 0}, 1);
  plan.kernels[3]->kind = "sgd";
  return plan;
}

TEST(CInterface, TrainsAndResumes) {
  std::string folder = testing::TempDir();
  std::string plan = folder + "c-interface.vdnn";
  ASSERT_TRUE(schedule::save(makeCpuPlan(), plan).ok());
  EXPECT_EQ(testCInterface(plan.c_str(), (folder + "c-interface-weights.safetensors").c_str()), 0);
}

} // namespace
