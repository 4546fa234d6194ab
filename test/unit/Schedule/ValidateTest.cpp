//===- ValidateTest.cpp - structural soundness, attributes and sizes ------===//

#include "Example.h"

#include "runtime/schedule/Schedule.h"

#include "gtest/gtest.h"

#include <functional>
#include <limits>

using namespace vdnn;
using namespace vdnn::schedule;
using vdnn::schedule::test::kExample;

namespace {

struct Case {
  const char *name;
  std::function<void(ScheduleT &)> damage;
  const char *message;
};

/// A state that is converted from a parameter, as tensors 1 and 0.
void addConverted(ScheduleT &s) {
  s.tensors[0]->role = Role::Parameter;
  s.tensors[0]->entry = s.tensors[0]->exit = 0;
  s.tensors.push_back(std::make_unique<TensorT>(*s.tensors[0]));
  TensorT &converted = *s.tensors[1];
  converted.name = "converted";
  converted.role = Role::State;
  converted.type->element = ElementType::BF16;
  converted.bytes = *typeBytes(*converted.type);
  converted.initial = std::make_unique<InitialT>();
  converted.initial->kind = InitialKind::Converted;
  converted.initial->source = 0;
}

/// Damage to a schedule with a converted state.
std::function<void(ScheduleT &)>
damageConverted(std::function<void(ScheduleT &)> damage) {
  return [damage = std::move(damage)](ScheduleT &s) {
    addConverted(s);
    ASSERT_TRUE(validate(s).ok()) << validate(s).message();
    damage(s);
  };
}

class Validate : public testing::TestWithParam<Case> {};

TEST_P(Validate, Refuses) {
  ScheduleT s = std::move(*parseJson(kExample));
  ASSERT_TRUE(validate(s).ok());
  GetParam().damage(s);
  rt::Status status = validate(s);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find(GetParam().message), std::string::npos)
      << status.message();
}

const Case kCases[] = {
    {"Version", [](ScheduleT &s) { s.version = 0; }, "version is 0"},
    {"Target", [](ScheduleT &s) { s.target.reset(); },
     "target device is missing"},
    {"EventCount", [](ScheduleT &s) { s.event_count = 4000000000u; },
     "event_count is 4000000000"},
    {"LinkRate",
     [](ScheduleT &s) {
       s.link->duplex_factor = std::numeric_limits<double>::quiet_NaN();
     },
     "rate of the link"},
    {"Latency", [](ScheduleT &s) { s.link->latency_ns = -1; }, "latency_ns"},
    {"NullEntry", [](ScheduleT &s) { s.commands[1].reset(); },
     "command 1: is missing"},
    {"Element",
     [](ScheduleT &s) { s.types[0]->element = static_cast<ElementType>(99); },
     "element type 99"},
    {"Layout", [](ScheduleT &s) { s.types[0]->layout = Layout::ChannelsLast; },
     "rank 2 cannot be channels last"},
    {"NegativeDimension", [](ScheduleT &s) { s.types[0]->shape[0] = -2; },
     "dimension -2 is negative"},
    {"Overflow",
     [](ScheduleT &s) {
       s.types[0]->shape = {int64_t(1) << 40, int64_t(1) << 40};
     },
     "exceed 64 bits"},
    {"TensorBytes", [](ScheduleT &s) { s.tensors[0]->bytes = 20; },
     "declares 20 bytes, its shape has 16"},
    {"TensorName", [](ScheduleT &s) { s.tensors[0]->name.clear(); },
     "has no name"},
    {"TensorType", [](ScheduleT &s) { s.tensors[0]->type.reset(); },
     "has no type"},
    {"SameName",
     [](ScheduleT &s) {
       s.tensors.push_back(std::make_unique<TensorT>(*s.tensors[0]));
     },
     "name of an earlier tensor"},
    {"Role", [](ScheduleT &s) { s.tensors[0]->role = static_cast<Role>(50); },
     "role 50"},
    {"Initial",
     [](ScheduleT &s) {
       s.tensors[0]->initial->kind = static_cast<InitialKind>(9);
     },
     "initial value 9"},
    {"ConvertedSource",
     damageConverted([](ScheduleT &s) { s.tensors[1]->initial->source = 2; }),
     "source tensor 2 does not exist"},
    {"ConvertedFromNothing",
     damageConverted([](ScheduleT &s) { s.tensors[1]->initial->source = -1; }),
     "converted from no source"},
    {"ConvertedFromItself",
     damageConverted([](ScheduleT &s) { s.tensors[1]->initial->source = 1; }),
     "which is converted itself"},
    {"ConvertedShape", damageConverted([](ScheduleT &s) {
       s.tensors[1]->type->shape.assign({1});
       s.tensors[1]->bytes = 2;
     }),
     "a tensor of another shape"},
    {"ConvertedFromActivation", damageConverted([](ScheduleT &s) {
       s.tensors[0]->role = Role::Activation;
     }),
     "expected a parameter or state with an entry"},
    {"ConvertedFromNoEntry",
     damageConverted([](ScheduleT &s) { s.tensors[0]->entry = -1; }),
     "expected a parameter or state with an entry"},
    {"ConvertedRole", damageConverted([](ScheduleT &s) {
       s.tensors[1]->role = Role::Parameter;
     }),
     "expected a state with an entry"},
    {"ConvertedIntegers", damageConverted([](ScheduleT &s) {
       s.tensors[1]->type->element = ElementType::I16;
     }),
     "expected floating-point elements"},
    {"SourceOfAConstant",
     [](ScheduleT &s) { s.tensors[0]->initial->source = 0; },
     "is not converted, but names a source"},
    {"Entry", [](ScheduleT &s) { s.tensors[0]->entry = 2; },
     "entry buffer 2 does not exist, there are 2"},
    {"Exit", [](ScheduleT &s) { s.tensors[0]->exit = -2; },
     "exit buffer -2 is neither"},
    {"GradientOf", [](ScheduleT &s) { s.tensors[0]->gradient_of = 1; },
     "gradient_of tensor 1"},
    {"BufferTensor", [](ScheduleT &s) { s.buffers[0]->tensor = 5; },
     "buffer 0: tensor 5"},
    {"BufferRange", [](ScheduleT &s) { s.buffers[0]->offset = ~uint64_t(0); },
     "exceeds 64 bits"},
    {"Arena", [](ScheduleT &s) { s.buffers[0]->arena = static_cast<Arena>(2); },
     "arena 2"},
    {"StreamKind",
     [](ScheduleT &s) { s.streams[0]->kind = static_cast<StreamKind>(3); },
     "stream kind 3"},
    {"KernelKind", [](ScheduleT &s) { s.kernels[0]->kind.clear(); },
     "has no kind"},
    {"NullAttribute", [](ScheduleT &s) { s.kernels[0]->attributes[0].reset(); },
     "attribute is missing"},
    {"NullScalarOp", [](ScheduleT &s) { s.kernels[0]->program[0].reset(); },
     "scalar op 0 is missing"},
    {"ProgramOperand",
     [](ScheduleT &s) { s.kernels[0]->program[1]->operands[1] = 2; },
     "values that do not exist"},
    {"ProgramResult", [](ScheduleT &s) { s.kernels[0]->program_results = {3}; },
     "values that do not exist"},
    {"ProgramResults",
     [](ScheduleT &s) { s.kernels[0]->program_results = {2}; },
     "has 1 results, the launch writes 0"},
    {"Stream", [](ScheduleT &s) { s.commands[0]->stream = 2; },
     "stream 2 does not exist"},
    {"Kernel", [](ScheduleT &s) { s.commands[0]->kernel = -1; },
     "launch without a kernel"},
    {"KernelIndex", [](ScheduleT &s) { s.commands[0]->kernel = 1; },
     "kernel 1 does not exist"},
    {"Workspace", [](ScheduleT &s) { s.commands[0]->workspace = 2; },
     "workspace 2"},
    {"OperandBuffer",
     [](ScheduleT &s) { s.commands[0]->reads[0] = Operand(2, 0); },
     "buffer of a read 2"},
    {"OperandType",
     [](ScheduleT &s) { s.commands[0]->reads[0] = Operand(0, 1); },
     "type of an operand 1"},
    {"InPlace",
     [](ScheduleT &s) { s.commands[0]->in_place.emplace_back(0, 0); },
     "in-place write 0"},
    {"LaunchEvent", [](ScheduleT &s) { s.commands[0]->event = 0; },
     "launch with an event"},
    {"CopyOperands", [](ScheduleT &s) { s.commands[3]->writes.clear(); },
     "found 1 and 0"},
    {"CopyKernel", [](ScheduleT &s) { s.commands[3]->kernel = 0; },
     "only a launch"},
    {"Event", [](ScheduleT &s) { s.commands[1]->event = 1; },
     "event 1 does not exist"},
    {"NoEvent", [](ScheduleT &s) { s.commands[1]->event = -1; },
     "without an event"},
    {"RecordOperands",
     [](ScheduleT &s) { s.commands[1]->reads.emplace_back(0, 0); },
     "record or wait with operands"},
    {"CommandKind",
     [](ScheduleT &s) { s.commands[1]->kind = static_cast<CommandKind>(4); },
     "command kind 4"},
    {"Predicted", [](ScheduleT &s) { s.commands[0]->predicted_ns = -1; },
     "predicted_ns is negative"},
};

INSTANTIATE_TEST_SUITE_P(All, Validate, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(Kernel, AttributesByName) {
  ScheduleT s = std::move(*parseJson(kExample));
  const KernelT &kernel = *s.kernels[0];
  EXPECT_EQ(getInts(kernel, "axes"), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(getInt(kernel, "axes"), 3);
  EXPECT_EQ(getInt(kernel, "absent", 5), 5);
  EXPECT_EQ(getNumber(kernel, "alpha"), 0.25);
  EXPECT_EQ(getNumber(kernel, "absent", 1.5), 1.5);
  EXPECT_EQ(getText(kernel, "mode"), "same");
  EXPECT_EQ(getText(kernel, "absent", "none"), "none");
  EXPECT_EQ(findAttribute(kernel, "absent"), nullptr);
}

TEST(Type, Bytes) {
  TypeT type;
  type.element = ElementType::F16;
  EXPECT_EQ(*typeBytes(type), 2u); // a scalar
  type.shape = {3, 5};
  EXPECT_EQ(*typeBytes(type), 30u);
  type.shape = {3, 0, int64_t(1) << 40};
  EXPECT_EQ(*typeBytes(type), 0u);
}

} // namespace
