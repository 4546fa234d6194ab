//===- PointwiseTypesTest.cpp - scalar programs on 16-bit numbers and on
// integers without sign ------------------===//

#include "Harness.h"

#include <limits>

namespace vdnn::rt::conformance {

static constexpr ElementType kF32 = ElementType::F32, kF64 = ElementType::F64,
                             kF16 = ElementType::F16, kBF16 = ElementType::BF16,
                             kI64 = ElementType::I64, kBool = ElementType::Bool;
static const double kNaN = std::numeric_limits<double>::quiet_NaN();
static const double kInf = std::numeric_limits<double>::infinity();

static Tensor vector(ElementType element, const std::vector<double> &values) {
  return tensor(makeType({static_cast<int64_t>(values.size())},
                         Layout::RowMajor, element),
                values);
}

/// What programs see of a tensor: f32 for bf16.
static ElementType scalarOf(ElementType element) {
  return element == kBF16 ? kF32 : element;
}

/// The result of one instruction.
static Tensor apply(const Instruction &instruction, ElementType result,
                    const std::vector<Tensor> &operands) {
  Launch launch("pointwise");
  launch.program({instruction}, {static_cast<uint32_t>(operands.size())});
  for (const Tensor &operand : operands) {
    launch.read(operand);
  }
  schedule::TypeT type = operands[0].type;
  type.element = result;
  return launch.write(type).run()[0];
}

/// One more than a number that has no successor at this distance: a tie.
TEST(PointwiseTypesTest, SumsOfHalvesRoundToNearestEven) {
  auto check = [](ElementType element, double whole) {
    Tensor a = vector(element, {whole, whole + 2, -whole, 1});
    Tensor b = vector(element, {1, 1, -1, 0.5});
    expectClose(apply({"addf", {0, 1}, scalarOf(element)}, element, {a, b}),
                {whole, whole + 4, -whole, 1.5}, 0);
  };
  check(kF16, 2048);
  check(kBF16, 256);
}

TEST(PointwiseTypesTest, HalvesOverflow) {
  Tensor big = vector(kF16, {65504, 65504, -65504}),
         more = vector(kF16, {16, 15, -16});
  expectClose(apply({"addf", {0, 1}, kF16}, kF16, {big, more}),
              {kInf, 65504, -kInf}, 0);
}

TEST(PointwiseTypesTest, FunctionsOfHalves) {
  for (auto [element, tolerance] :
       {std::pair{kF16, 1e-3}, std::pair{kBF16, 1e-6}}) {
    Tensor x = vector(element, {-1.5, -0.25, 0.5, 2});
    auto check = [&, element = element, tolerance = tolerance](
                     const char *code, double (*function)(double)) {
      SCOPED_TRACE(code);
      std::vector<double> expected;
      for (double value : x.values) {
        expected.push_back(function(value));
      }
      expectRounded(apply({code, {0}, scalarOf(element)}, element, {x}),
                    expected, tolerance);
    };
    check("exp", [](double a) { return std::exp(a); });
    check("tanh", [](double a) { return std::tanh(a); });
    check("erf", [](double a) { return std::erf(a); });
    check("negf", [](double a) { return -a; });
    check("floor", [](double a) { return std::floor(a); });
  }
}

TEST(PointwiseTypesTest, ComparisonsOfHalves) {
  for (ElementType element : {kF16, kBF16}) {
    Tensor a = vector(element, {1, 2, kNaN, -0.0}),
           b = vector(element, {2, 1, 1, 0.0});
    ElementType scalar = scalarOf(element);
    expectClose(apply({"maximumf", {0, 1}, scalar}, element, {a, b}),
                {2, 2, kNaN, 0}, 0);
    expectClose(apply({"minimumf", {0, 1}, scalar}, element, {a, b}),
                {1, 1, kNaN, 0}, 0);
    expectClose(apply({"cmpf", {0, 1}, kBool, "oeq"}, kBool, {a, b}),
                {0, 0, 0, 1}, 0);
    Tensor choice = vector(kBool, {1, 0, 0, 1});
    expectClose(apply({"select", {0, 1, 2}, scalar}, element, {choice, a, b}),
                {1, 1, 1, 0}, 0);
  }
}

TEST(PointwiseTypesTest, ConversionsOfHalves) {
  for (ElementType element : {kF16, kBF16}) {
    Tensor x = vector(element, {1.5, -2.5, 0, 96});
    if (scalarOf(element) == element) {
      expectClose(apply({"extf", {0}, kF32}, kF32, {x}), x.values, 0);
    }
    expectClose(apply({"extf", {0}, kF64}, kF64, {x}), x.values, 0);
    expectClose(apply({"fptosi", {0}, kI64}, kI64, {x}), {1, -2, 0, 96}, 0);
    expectClose(
        apply({"sitofp", {0}, element}, element, {vector(kI64, {3, -7})}),
        {3, -7}, 0);
  }
}

/// What lies just above the middle of two 16-bit numbers and would be rounded
/// to the middle as a float.
TEST(PointwiseTypesTest, ConversionsRoundOnce) {
  double half = 1 + std::ldexp(1, -11), little = std::ldexp(1, -40);
  expectClose(apply({"truncf", {0}, kF16}, kF16,
                    {vector(kF64, {half + little, half, half - little})}),
              {1 + std::ldexp(1, -10), 1, 1}, 0);
  double middle = std::ldexp(1, 40) + std::ldexp(1, 32);
  expectClose(apply({"sitofp", {0}, kBF16}, kBF16,
                    {vector(kI64, {middle + 1, middle, middle - 1, -middle})}),
              {std::ldexp(1, 40) + std::ldexp(1, 33), std::ldexp(1, 40),
               std::ldexp(1, 40), -std::ldexp(1, 40)},
              0);
}

TEST(PointwiseTypesTest, HalvesBroadcastInPlaceWithConstants) {
  for (ElementType element : {kF16, kBF16}) {
    Tensor a = tensor(makeType({2, 3}, Layout::RowMajor, element),
                      {1, 2, 3, 4, 5, 6}),
           b = tensor(makeType({1, 3}, Layout::RowMajor, element), {1, 0, -1});
    Launch launch("pointwise");
    launch.program({{"constant", {}, scalarOf(element), "", 0.5},
                    {"mulf", {0, 2}, scalarOf(element)},
                    {"addf", {3, 1}, scalarOf(element)}},
                   {4});
    launch.read(a).read(b).write(a.type).inPlace(0, 0);
    expectClose(launch.run()[0], {1.5, 1, 0.5, 3, 2.5, 2}, 0);
  }
}

static Tensor row(ElementType element, const std::vector<double> &values) {
  return vector(element, rounded(element, values));
}

/// What a sum of two bf16 numbers loses, the next instruction still sees.
TEST(PointwiseTypesTest, ProgramsOnBf16RoundAtTheEnd) {
  Launch launch("pointwise");
  launch.program({{"addf", {0, 1}}, {"addf", {2, 1}}, {"subf", {3, 0}}},
                 {3, 4, 2});
  Tensor whole = vector(kBF16, {256, -256, 1}), one = vector(kBF16, {1, -1, 1});
  launch.read(whole).read(one);
  launch.write(whole.type)
      .write(whole.type)
      .write(vector(kF32, {0, 0, 0}).type);
  std::vector<Tensor> results = launch.run();
  expectClose(results[0], {258, -258, 3}, 0);
  expectClose(results[1], {2, -2, 2}, 0);
  expectClose(results[2], {257, -257, 2}, 0);
}

/// Values that conversions have made bf16 are rounded by every instruction, and
/// stored as they are.
TEST(PointwiseTypesTest, ConvertedValuesOfBf16) {
  Launch launch("pointwise");
  launch.program({{"truncf", {0}, kBF16},
                  {"addf", {1, 1}, kBF16},
                  {"addf", {2, 1}, kBF16},
                  {"extf", {3}, kF32}},
                 {4, 3});
  Tensor x = vector(kF32, {129.0, 0.5, 257.0});
  launch.read(x).write(x.type).write(vector(kBF16, {0, 0, 0}).type);
  std::vector<Tensor> results = launch.run();
  // 387 lies halfway between 386 and 388, 768 is exact.
  expectClose(results[0], {388, 1.5, 768}, 0);
  expectClose(results[1], {388, 1.5, 768}, 0);
}

/// Operands and results of two types, in place of each other, and more elements
/// than a vector or a block of any backend.
TEST(PointwiseTypesTest, MixedWithF32) {
  for (int64_t size : {1, 7, 1003, 300000}) {
    schedule::TypeT half = makeType({size}, Layout::RowMajor, kBF16),
                    full = makeType({size});
    Tensor a = randomTensor(half, 1), b = randomTensor(full, 2),
           c = randomTensor(half, 3);
    std::vector<double> sum, product;
    for (size_t i = 0; i < a.values.size(); ++i) {
      sum.push_back(a.values[i] + b.values[i]);
      product.push_back(sum.back() * c.values[i]);
    }
    for (bool inPlace : {false, true}) {
      Launch launch("pointwise");
      launch.program({{"addf", {0, 1}}, {"mulf", {3, 2}}}, {4, 3, 3});
      launch.read(a).read(b).read(c).write(half).write(full).write(half);
      if (inPlace) {
        launch.inPlace(0, 0).inPlace(1, 1).inPlace(2, 2);
      }
      std::vector<Tensor> results = launch.run();
      expectRounded(results[0], product, 1e-6);
      expectClose(results[1], sum, 1e-6);
      expectClose(results[2], rounded(kBF16, results[1].values), 0);
    }
  }
}

TEST(PointwiseTypesTest, Bf16BroadcastsAlongChannels) {
  for (int64_t channels : {3, 5, 7, 12, 24}) {
    for (ElementType element : {kF32, kBF16}) {
      Tensor x = randomTensor(activation({2, channels, 6, 5}, kBF16), 1),
             b = randomTensor(activation({1, channels, 1, 1}, element), 2);
      std::vector<double> expected;
      for (size_t i = 0; i < x.values.size(); ++i) {
        expected.push_back(x.values[i] -
                           b.values[static_cast<int64_t>(i) / 30 % channels]);
      }
      Launch launch("pointwise");
      launch.program({{"subf", {0, 1}}}, {2});
      launch.read(x).read(b).write(x.type).inPlace(0, 0);
      expectRounded(launch.run()[0], expected, 1e-6);
    }
  }
}

/// Programs without instructions.
TEST(PointwiseTypesTest, CastsBetweenBf16AndF32) {
  std::vector<double> values = {1 + 0x1p-8, 1 + 0x3p-8, -3.14159, 0x1p-130,
                                kInf,       -kInf,      kNaN,     -0.0};
  Launch narrow("pointwise"), widen("pointwise"), copy("pointwise");
  narrow.program({}, {0})
      .read(row(kF32, values))
      .write(row(kBF16, values).type);
  expectClose(narrow.run()[0], rounded(kBF16, values), 0);
  widen.program({}, {0}).read(row(kBF16, values)).write(row(kF32, values).type);
  expectClose(widen.run()[0], rounded(kBF16, values), 0);
  copy.program({}, {0}).read(row(kBF16, values)).write(row(kBF16, values).type);
  expectClose(copy.run()[0], rounded(kBF16, values), 0);
}

/// Operands and results without sign; the program sees integers of their width.
TEST(PointwiseTypesTest, IntegersWithoutSign) {
  const std::pair<ElementType, ElementType> types[] = {
      {ElementType::U8, ElementType::I8},
      {ElementType::U16, ElementType::I16},
      {ElementType::U32, ElementType::I32},
      {ElementType::U64, ElementType::I64}};
  for (auto [element, scalar] : types) {
    double high = std::ldexp(
        1, static_cast<int>(schedule::elementBytes(element)) * 8 - 1);
    Tensor a = vector(element, {high + high / 2, 7, 9}),
           b = vector(element, {3, high, 0});
    auto check = [&, element = element, scalar = scalar](
                     const char *code, const std::vector<double> &expected) {
      SCOPED_TRACE(code);
      expectClose(apply({code, {0, 1}, scalar}, element, {a, b}), expected, 0);
    };
    check("maxui", {high + high / 2, high, 9});
    check("minui", {3, 7, 0});
    check("divui", {high / 2, 0, 0});
    check("remui", {0, 7, 0});
    check("subi", {high + high / 2 - 3, high + 7, 9});
    expectClose(apply({"cmpi", {0, 1}, kBool, "ult"}, kBool, {a, b}), {0, 1, 0},
                0);
    expectClose(apply({"uitofp", {0}, kF64}, kF64, {a}),
                {high + high / 2, 7, 9}, 0);
    expectClose(
        apply({"fptoui", {0}, scalar}, element, {vector(kF64, {high, 3.75})}),
        {high, 3}, 0);
  }
}

TEST(PointwiseTypesTest, PowersOfIntegers) {
  Tensor a = vector(kI64, {3, -2, 2, -1, 1, 5, 0, 10}),
         b = vector(kI64, {4, 5, 64, -3, -7, -1, 0, 15});
  expectClose(apply({"ipowi", {0, 1}, kI64}, kI64, {a, b}),
              {81, -32, 0, -1, 1, 0, 1, 1e15}, 0);
}

} // namespace vdnn::rt::conformance
