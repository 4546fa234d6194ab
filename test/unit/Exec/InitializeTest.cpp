//===- InitializeTest.cpp - what persistent tensors start with ------------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Initialize.h"
#include "runtime/exec/RateSchedule.h"
#include "runtime/support/Half.h"
#include "runtime/support/Philox.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

schedule::TensorT
makeTensor(const std::string &name, int64_t count, schedule::InitialKind kind,
           double a, double b,
           schedule::ElementType element = schedule::ElementType::F32) {
  schedule::TensorT tensor;
  tensor.name = name;
  tensor.role = schedule::Role::Parameter;
  tensor.type = std::make_unique<schedule::TypeT>();
  tensor.type->element = element;
  tensor.type->shape = {count};
  tensor.bytes = static_cast<uint64_t>(count) * schedule::elementBytes(element);
  tensor.initial = std::make_unique<schedule::InitialT>();
  tensor.initial->kind = kind;
  tensor.initial->a = a;
  tensor.initial->b = b;
  return tensor;
}

std::vector<double> values(const schedule::TensorT &tensor, uint64_t seed) {
  Result<HostTensor> value = initialValue(tensor, seed);
  EXPECT_TRUE(value.ok()) << value.message();
  return toDoubles(*value, 0, *elementCount(value->shape));
}

// The known answers of the Random123 distribution (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                     0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                     0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                     0x24126ea1}));
}

TEST(Initialize, NormalHasItsMeanAndDeviation) {
  std::vector<double> sample =
      values(makeTensor("w", 100001, schedule::InitialKind::Normal, 3, 0.5), 7);
  double sum = 0;
  double squares = 0;
  for (double value : sample) {
    sum += value;
    squares += (value - 3) * (value - 3);
  }
  double n = static_cast<double>(sample.size());
  EXPECT_NEAR(sum / n, 3, 0.01);
  EXPECT_NEAR(std::sqrt(squares / n), 0.5, 0.01);
}

TEST(Initialize, UniformStaysInItsRange) {
  std::vector<double> sample =
      values(makeTensor("w", 10000, schedule::InitialKind::Uniform, -2, 1), 7);
  EXPECT_GE(*std::min_element(sample.begin(), sample.end()), -2);
  EXPECT_LE(*std::max_element(sample.begin(), sample.end()), 1);
  EXPECT_LT(*std::min_element(sample.begin(), sample.end()), -1.99);
  EXPECT_GT(*std::max_element(sample.begin(), sample.end()), 0.99);
}

TEST(Initialize, DependsOnSeedAndNameAlone) {
  schedule::TensorT w = makeTensor("w", 5, schedule::InitialKind::Normal, 0, 1);
  schedule::TensorT longer =
      makeTensor("w", 50, schedule::InitialKind::Normal, 0, 1);
  schedule::TensorT other =
      makeTensor("v", 5, schedule::InitialKind::Normal, 0, 1);
  std::vector<double> first = values(w, 1);
  std::vector<double> prefix = values(longer, 1);
  prefix.resize(5);
  EXPECT_EQ(values(w, 1), first);
  EXPECT_EQ(prefix, first);
  EXPECT_NE(values(w, 2), first);
  EXPECT_NE(values(other, 1), first);
}

TEST(Initialize, ConstantsOfEveryType) {
  for (auto element : {schedule::ElementType::F32, schedule::ElementType::F16,
                       schedule::ElementType::BF16, schedule::ElementType::F64,
                       schedule::ElementType::I64, schedule::ElementType::I32,
                       schedule::ElementType::I16, schedule::ElementType::I8,
                       schedule::ElementType::U8}) {
    EXPECT_EQ(values(makeTensor("c", 3, schedule::InitialKind::Constant, 5, 0,
                                element),
                     0),
              (std::vector<double>{5, 5, 5}))
        << elementName(element);
  }
  EXPECT_FALSE(initialValue(makeTensor("c", 1, schedule::InitialKind::Constant,
                                       300, 0, schedule::ElementType::U8),
                            0)
                   .ok());
  EXPECT_FALSE(initialValue(makeTensor("c", 1, schedule::InitialKind::Constant,
                                       0.5, 0, schedule::ElementType::I32),
                            0)
                   .ok());
  EXPECT_FALSE(initialValue(makeTensor("c", 1, schedule::InitialKind::Normal, 0,
                                       1, schedule::ElementType::I32),
                            0)
                   .ok());
}

TEST(Initialize, StoredButAbsentSaysWhatToDo) {
  schedule::ScheduleT plan = makeToyPlan();
  plan.tensors[2]->initial->kind = schedule::InitialKind::Stored;
  FakeLog log;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), createFakeDevice(log));
  ASSERT_TRUE(executor.ok());
  Result<std::vector<std::string>> result = initialize(**executor, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("'w'"), std::string::npos);
  EXPECT_NE(result.message().find("--weights"), std::string::npos);
}

/// Files of weights for a toy plan that has the velocity `w.velocity` and the
/// constant `constant.0` besides `w`.
class WeightsTest : public testing::Test {
protected:
  enum class From { User, Compiler };

  Safetensors file(const std::string &name, std::vector<std::string> tensors,
                   From from = From::User) {
    std::vector<HostTensor> values;
    for (const std::string &tensor : tensors) {
      values.push_back(makeHostTensor(tensor, schedule::ElementType::F32, {4},
                                      std::vector<std::byte>(16)));
    }
    std::string path = testing::TempDir() + name;
    std::map<std::string, std::string> metadata;
    if (from == From::Compiler) {
      metadata["producer"] = "vdnn-opt";
    }
    EXPECT_TRUE(writeSafetensors(path, values, metadata).ok());
    return std::move(*Safetensors::read(path));
  }

  /// What initialize says: "error: ...", or its notes, one a line.
  std::string say(const Safetensors *weights, const Safetensors *planWeights) {
    schedule::ScheduleT plan = makeToyPlan();
    edit(plan);
    FakeLog log;
    Result<std::unique_ptr<Executor>> executor =
        Executor::create(std::move(plan), createFakeDevice(log));
    EXPECT_TRUE(executor.ok()) << executor.message();
    Result<std::vector<std::string>> notes =
        initialize(**executor, {weights, planWeights, 9});
    if (!notes) {
      return "error: " + notes.message();
    }
    std::string text;
    for (const std::string &note : *notes) {
      text += note + "\n";
    }
    return text;
  }

  /// Adds a persistent tensor of four floats that nobody reads.
  static void addState(schedule::ScheduleT &plan, const std::string &name,
                       std::optional<schedule::InitialKind> kind) {
    auto buffer = std::make_unique<schedule::BufferT>(
        *plan.buffers[plan.tensors[2]->entry]);
    auto tensor = std::make_unique<schedule::TensorT>();
    tensor->name = buffer->name = name;
    tensor->role = schedule::Role::State;
    tensor->type = std::make_unique<schedule::TypeT>(*plan.tensors[2]->type);
    tensor->bytes = 16;
    if (kind) {
      tensor->initial = std::make_unique<schedule::InitialT>();
      tensor->initial->kind = *kind;
    }
    tensor->entry = tensor->exit = static_cast<int32_t>(plan.buffers.size());
    buffer->tensor = static_cast<int32_t>(plan.tensors.size());
    buffer->offset = (plan.device_arena + 3) / 4 * 4;
    plan.device_arena = buffer->offset + 16;
    plan.buffers.push_back(std::move(buffer));
    plan.tensors.push_back(std::move(tensor));
  }

  std::function<void(schedule::ScheduleT &)> edit =
      [](schedule::ScheduleT &plan) {
        addState(plan, "w.velocity", schedule::InitialKind::Constant);
        addState(plan, "w.mean", schedule::InitialKind::Constant);
        addState(plan, "constant.0", schedule::InitialKind::Constant);
      };
};

TEST_F(WeightsTest, NoFileGivesANoteAboutChance) {
  EXPECT_EQ(
      say(nullptr, nullptr),
      "1 tensors start at random values (seed 9): no weights were given\n");
}

TEST_F(WeightsTest, AFileOfTheUserHoldsEveryParameterAndState) {
  Safetensors whole = file("whole.safetensors", {"w", "w.mean", "w.velocity"});
  EXPECT_EQ(say(&whole, nullptr), "");
  Safetensors part = file("part.safetensors", {"w.velocity", "w.mean"});
  std::string text = say(&part, nullptr);
  EXPECT_NE(text.find("part.safetensors' lacks 1 of the 3 parameters and "
                      "states of the plan: 'w':"),
            std::string::npos)
      << text;
  // Also where the file beside the plan could fill the gap.
  EXPECT_EQ(say(&part, &whole), text);
  Safetensors other = file("other.safetensors", {"v"});
  text = say(&other, nullptr);
  EXPECT_NE(
      text.find("other.safetensors' shares no name with the 3 parameters"),
      std::string::npos)
      << text;
  text = say(nullptr, &part);
  EXPECT_NE(text.find("lacks 1 of the 3"), std::string::npos) << text;
}

TEST_F(WeightsTest, VelocitiesMayBeAbsentBesideAllParameters) {
  Safetensors trained = file("plain-weights.safetensors", {"w", "w.mean"});
  std::string text = say(&trained, nullptr);
  EXPECT_TRUE(text.starts_with("1 velocities are not in '")) << text;
}

// The compiler leaves tensors of one value out, and those that the model leaves
// to chance; a file of another model it is not.
TEST_F(WeightsTest, AFileOfTheCompilerLacksWhatThePlanDescribes) {
  Safetensors compiled = file("compiled.safetensors", {"w"}, From::Compiler);
  EXPECT_EQ(say(nullptr, &compiled), "");
  EXPECT_EQ(say(&compiled, nullptr), "");
  Safetensors light = file("light.safetensors", {"constant.0"}, From::Compiler);
  std::string text = say(nullptr, &light);
  EXPECT_NE(
      text.find("1 tensors start at random values (seed 9): they are not in '"),
      std::string::npos)
      << text;
  Safetensors stale = file("stale.safetensors", {"v"}, From::Compiler);
  text = say(nullptr, &stale);
  EXPECT_NE(text.find("shares no name"), std::string::npos) << text;
}

TEST_F(WeightsTest, ATensorWithoutValueAndDescriptionIsAnError) {
  edit = [](schedule::ScheduleT &plan) {
    addState(plan, "a", std::nullopt);
    addState(plan, "b", schedule::InitialKind::Stored);
  };
  std::string text = say(nullptr, nullptr);
  EXPECT_NE(
      text.find("error: no file holds the values of 2 tensors: 'a', 'b': give"),
      std::string::npos)
      << text;
}

// A converted state follows its source wherever that gets its value, and no
// file is asked for it.
TEST_F(WeightsTest, ConvertedStatesFollowTheirSource) {
  schedule::ScheduleT plan = makeToyPlan();
  addConverted(plan, "w.bf16", 2);
  FakeLog log;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(plan), createFakeDevice(log));
  ASSERT_TRUE(executor.ok()) << executor.message();
  auto follows = [&] {
    std::vector<double> wide = toDoubles(*(*executor)->read(2), 0, 4);
    std::vector<double> copy =
        toDoubles(*(*executor)->read(*(*executor)->find("w.bf16")), 0, 4);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(copy[i],
                bfloatToFloat(floatToBfloat(static_cast<float>(wide[i]))));
    }
    return copy;
  };
  Result<std::vector<std::string>> notes = initialize(**executor, {});
  ASSERT_TRUE(notes.ok()) << notes.message();
  EXPECT_EQ(notes->size(), 1u); // that `w` starts at random
  std::vector<double> random = follows();
  Safetensors whole = file("converted.safetensors", {"w"});
  notes = initialize(**executor, {&whole, nullptr, 9});
  ASSERT_TRUE(notes.ok()) << notes.message();
  EXPECT_TRUE(notes->empty());
  EXPECT_NE(follows(), random);
}

TEST(RateSchedule, Shapes) {
  RateSchedule rate;
  rate.base = 0.5;
  EXPECT_EQ(rate.at(1000000), 0.5);
  rate.kind = RateSchedule::Kind::Step;
  rate.every = 10;
  rate.factor = 0.5;
  EXPECT_EQ(rate.at(9), 0.5);
  EXPECT_EQ(rate.at(10), 0.25);
  EXPECT_EQ(rate.at(29), 0.125);
  rate.kind = RateSchedule::Kind::Cosine;
  rate.total = 100;
  EXPECT_EQ(rate.at(0), 0.5);
  EXPECT_NEAR(rate.at(50), 0.25, 1e-15);
  EXPECT_EQ(rate.at(100), 0);
}

// Every half and bfloat16 survives the way to float and back; values between
// two halves go to the even one.
TEST(Half, RoundTripsAndTies) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    if (!std::isnan(halfToFloat(half))) {
      EXPECT_EQ(floatToHalf(halfToFloat(half)), half);
    }
    if (!std::isnan(bfloatToFloat(half))) {
      EXPECT_EQ(floatToBfloat(bfloatToFloat(half)), half);
    }
  }
  EXPECT_EQ(floatToHalf(1 + 0x1p-11f), floatToHalf(1));
  EXPECT_EQ(floatToHalf(1 + 3 * 0x1p-11f), floatToHalf(1 + 0x1p-9f));
  EXPECT_EQ(floatToHalf(65519), 0x7bff);
  EXPECT_EQ(floatToHalf(65520), 0x7c00);
  EXPECT_EQ(floatToHalf(-0x1p-25f), 0x8000);
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(NAN))));
  EXPECT_EQ(bfloatToFloat(floatToBfloat(1 + 0x1p-8f)), 1);
}

} // namespace
