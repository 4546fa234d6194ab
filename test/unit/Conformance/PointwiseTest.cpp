//===- PointwiseTest.cpp - scalar programs against plain loops ------------===//

#include "Harness.h"

#include <limits>

namespace vdnn::rt::conformance {

static constexpr ElementType kF32 = ElementType::F32, kBool = ElementType::Bool,
                             kI32 = ElementType::I32, kI64 = ElementType::I64;
static const double kNaN = std::numeric_limits<double>::quiet_NaN();
static const double kInf = std::numeric_limits<double>::infinity();

static Launch pointwise(std::vector<Instruction> program,
                        std::vector<uint32_t> results) {
  Launch launch("pointwise");
  launch.program(std::move(program), std::move(results));
  return launch;
}

static Tensor apply(const Tensor &x, const std::function<double(double)> &f) {
  Tensor y = x;
  for (double &value : y.values) {
    value = f(value);
  }
  return y;
}

TEST(PointwiseTest, UnaryFunctions) {
  struct Case {
    const char *code;
    double (*function)(double);
    double low, high;
  };
  const Case cases[] = {
      {"negf", [](double a) { return -a; }, -5, 5},
      {"absf", [](double a) { return std::fabs(a); }, -5, 5},
      {"ceil", [](double a) { return std::ceil(a); }, -5, 5},
      {"floor", [](double a) { return std::floor(a); }, -5, 5},
      {"round", [](double a) { return std::round(a); }, -5, 5},
      {"roundeven", [](double a) { return std::nearbyint(a); }, -5, 5},
      {"trunc", [](double a) { return std::trunc(a); }, -5, 5},
      {"exp", [](double a) { return std::exp(a); }, -10, 5},
      {"exp2", [](double a) { return std::exp2(a); }, -10, 5},
      {"expm1", [](double a) { return std::expm1(a); }, -2, 2},
      {"log", [](double a) { return std::log(a); }, 0.01, 9},
      {"log2", [](double a) { return std::log2(a); }, 0.01, 9},
      {"log10", [](double a) { return std::log10(a); }, 0.01, 9},
      {"log1p", [](double a) { return std::log1p(a); }, -0.9, 9},
      {"sqrt", [](double a) { return std::sqrt(a); }, 0, 9},
      {"rsqrt", [](double a) { return 1 / std::sqrt(a); }, 0.1, 9},
      {"tanh", [](double a) { return std::tanh(a); }, -4, 4},
      {"erf", [](double a) { return std::erf(a); }, -3, 3},
      {"sin", [](double a) { return std::sin(a); }, -9, 9},
      {"cos", [](double a) { return std::cos(a); }, -9, 9},
      {"sinh", [](double a) { return std::sinh(a); }, -3, 3},
      {"cosh", [](double a) { return std::cosh(a); }, -3, 3},
      {"asin", [](double a) { return std::asin(a); }, -0.9, 0.9},
      {"acos", [](double a) { return std::acos(a); }, -0.9, 0.9},
      {"atan", [](double a) { return std::atan(a); }, -5, 5},
      {"asinh", [](double a) { return std::asinh(a); }, -5, 5},
      {"acosh", [](double a) { return std::acosh(a); }, 1.1, 9},
      {"atanh", [](double a) { return std::atanh(a); }, -0.9, 0.9},
      {"cbrt", [](double a) { return std::cbrt(a); }, -5, 5},
      {"tan", [](double a) { return std::tan(a); }, -1, 1},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.code);
    Tensor x = randomTensor(makeType({37, 91}), 1, c.low, c.high);
    Launch launch = pointwise({{c.code, {0}}}, {1});
    expectClose(launch.read(x).write(x.type).run()[0],
                apply(x, c.function).values, 1e-6);
  }
}

TEST(PointwiseTest, BinaryFunctions) {
  struct Case {
    const char *code;
    double (*function)(double, double);
  };
  const Case cases[] = {
      {"addf", [](double a, double b) { return a + b; }},
      {"subf", [](double a, double b) { return a - b; }},
      {"mulf", [](double a, double b) { return a * b; }},
      {"divf", [](double a, double b) { return a / b; }},
      {"remf", [](double a, double b) { return std::fmod(a, b); }},
      {"powf", [](double a, double b) { return std::pow(a, b); }},
      {"atan2", [](double a, double b) { return std::atan2(a, b); }},
      {"maximumf", [](double a, double b) { return std::max(a, b); }},
      {"minimumf", [](double a, double b) { return std::min(a, b); }},
      {"maxnumf", [](double a, double b) { return std::max(a, b); }},
      {"minnumf", [](double a, double b) { return std::min(a, b); }},
  };
  Tensor a = randomTensor(makeType({3000}), 1, 0.5, 3),
         b = randomTensor(makeType({3000}), 2, 0.5, 3);
  for (const Case &c : cases) {
    SCOPED_TRACE(c.code);
    std::vector<double> expected;
    for (size_t i = 0; i < a.values.size(); ++i) {
      expected.push_back(c.function(a.values[i], b.values[i]));
    }
    Launch launch = pointwise({{c.code, {0, 1}}}, {2});
    expectClose(launch.read(a).read(b).write(a.type).run()[0], expected, 2e-6);
  }
}

TEST(PointwiseTest, NaN) {
  Tensor a = tensor(makeType({4}), {kNaN, 1, kNaN, 2}),
         b = tensor(makeType({4}), {1, kNaN, kNaN, 3});
  auto check = [&](const char *code, const std::vector<double> &expected) {
    SCOPED_TRACE(code);
    Launch launch = pointwise({{code, {0, 1}}}, {2});
    expectClose(launch.read(a).read(b).write(a.type).run()[0], expected, 0);
  };
  check("maximumf", {kNaN, kNaN, kNaN, 3});
  check("minimumf", {kNaN, kNaN, kNaN, 2});
  check("maxnumf", {1, 1, kNaN, 3});
  check("minnumf", {1, 1, kNaN, 2});
}

TEST(PointwiseTest, FloatComparisons) {
  Tensor a = tensor(makeType({5}), {1, 2, 3, kNaN, kInf}),
         b = tensor(makeType({5}), {2, 2, 2, 2, kInf});
  auto check = [&](const char *predicate, const std::vector<double> &expected) {
    SCOPED_TRACE(predicate);
    Launch launch = pointwise({{"cmpf", {0, 1}, kBool, predicate}}, {2});
    expectClose(launch.read(a)
                    .read(b)
                    .write(makeType({5}, Layout::RowMajor, kBool))
                    .run()[0],
                expected, 0);
  };
  check("oeq", {0, 1, 0, 0, 1});
  check("ogt", {0, 0, 1, 0, 0});
  check("oge", {0, 1, 1, 0, 1});
  check("olt", {1, 0, 0, 0, 0});
  check("ole", {1, 1, 0, 0, 1});
  check("one", {1, 0, 1, 0, 0});
  check("ord", {1, 1, 1, 0, 1});
  check("ueq", {0, 1, 0, 1, 1});
  check("ugt", {0, 0, 1, 1, 0});
  check("uge", {0, 1, 1, 1, 1});
  check("ult", {1, 0, 0, 1, 0});
  check("ule", {1, 1, 0, 1, 1});
  check("une", {1, 0, 1, 1, 0});
  check("uno", {0, 0, 0, 1, 0});
}

TEST(PointwiseTest, Integers) {
  for (ElementType element :
       {ElementType::I64, kI32, ElementType::I16, ElementType::I8}) {
    schedule::TypeT type = makeType({3}, Layout::RowMajor, element);
    Tensor a = tensor(type, {7, -6, 3}), b = tensor(type, {2, 4, -3});
    auto check = [&](const char *code, const std::vector<double> &expected) {
      SCOPED_TRACE(code);
      Launch launch = pointwise({{code, {0, 1}, element}}, {2});
      expectClose(launch.read(a).read(b).write(type).run()[0], expected, 0);
    };
    check("addi", {9, -2, 0});
    check("subi", {5, -10, 6});
    check("muli", {14, -24, -9});
    check("divsi", {3, -1, -1});
    check("remsi", {1, -2, 0});
    check("maxsi", {7, 4, 3});
    check("minsi", {2, -6, -3});
    check("andi", {7 & 2, -6 & 4, 3 & -3});
    check("ori", {7 | 2, -6 | 4, 3 | -3});
    check("xori", {7 ^ 2, -6 ^ 4, 3 ^ -3});
    Launch less = pointwise({{"cmpi", {0, 1}, kBool, "slt"}}, {2});
    expectClose(less.read(a)
                    .read(b)
                    .write(makeType({3}, Layout::RowMajor, kBool))
                    .run()[0],
                {0, 1, 0}, 0);
    Launch lessUnsigned = pointwise({{"cmpi", {0, 1}, kBool, "ult"}}, {2});
    expectClose(lessUnsigned.read(a)
                    .read(b)
                    .write(makeType({3}, Layout::RowMajor, kBool))
                    .run()[0],
                {0, 0, 1}, 0);
  }
}

TEST(PointwiseTest, Conversions) {
  Tensor x = tensor(makeType({4}), {1.75, -2.5, 0, 100});
  Launch toInt = pointwise({{"fptosi", {0}, kI32}}, {1});
  expectClose(
      toInt.read(x).write(makeType({4}, Layout::RowMajor, kI32)).run()[0],
      {1, -2, 0, 100}, 0);
  Launch back = pointwise({{"sitofp", {0}, kF32}}, {1});
  expectClose(back.read(tensor(makeType({2}, Layout::RowMajor, kI64), {-3, 9}))
                  .write(makeType({2}))
                  .run()[0],
              {-3, 9}, 0);
  Launch truth = pointwise({{"uitofp", {0}, kF32}}, {1});
  expectClose(truth.read(tensor(makeType({2}, Layout::RowMajor, kBool), {1, 0}))
                  .write(makeType({2}))
                  .run()[0],
              {1, 0}, 0);
  Launch wide = pointwise(
      {{"extf", {0}, ElementType::F64}, {"truncf", {1}, kF32}}, {1, 2});
  std::vector<Tensor> results =
      wide.read(x)
          .write(makeType({4}, Layout::RowMajor, ElementType::F64))
          .write(makeType({4}))
          .run();
  expectClose(results[0], x.values, 0);
  expectClose(results[1], x.values, 0);
}

TEST(PointwiseTest, UnsignedAndTruncatingConversions) {
  Tensor x =
      tensor(makeType({3}, Layout::RowMajor, ElementType::I8), {-1, 2, 3});
  Launch wide = pointwise({{"extui", {0}, kI32}}, {1});
  expectClose(
      wide.read(x).write(makeType({3}, Layout::RowMajor, kI32)).run()[0],
      {255, 2, 3}, 0);
  Launch real = pointwise({{"uitofp", {0}}}, {1});
  expectClose(real.read(x).write(makeType({3})).run()[0], {255, 2, 3}, 0);
  Launch lowest = pointwise({{"trunci", {0}, kBool}}, {1});
  expectClose(
      lowest.read(x).write(makeType({3}, Layout::RowMajor, kBool)).run()[0],
      {1, 0, 1}, 0);
}

TEST(PointwiseTest, FusedMultiplyAdd) {
  // The product alone would be rounded to 1.
  double next = 1 + std::ldexp(1, -23), previous = 1 - std::ldexp(1, -23);
  schedule::TypeT type = makeType({1});
  Launch launch = pointwise({{"fma", {0, 1, 2}}}, {3});
  launch.read(tensor(type, {next})).read(tensor(type, {previous}));
  launch.read(tensor(type, {-1})).write(type);
  expectClose(launch.run()[0], {-std::ldexp(1, -46)}, 1e-20);
}

TEST(PointwiseTest, SelectAndLogic) {
  // 0 < x < 1 ? x : 0
  Tensor x = randomTensor(makeType({50, 50}), 1, -2, 2);
  Launch launch = pointwise({{"constant", {}, kF32, "", 0},
                             {"constant", {}, kF32, "", 1},
                             {"cmpf", {0, 1}, kBool, "ogt"},
                             {"cmpf", {0, 2}, kBool, "olt"},
                             {"andi", {3, 4}, kBool},
                             {"select", {5, 0, 1}}},
                            {6});
  expectClose(launch.read(x).write(x.type).run()[0],
              apply(x, [](double v) { return v > 0 && v < 1 ? v : 0; }).values,
              0);
}

TEST(PointwiseTest, Broadcasting) {
  for (Layout layout : {Layout::RowMajor, Layout::ChannelsLast}) {
    Shape shape = {3, 20, 7, 9};
    Tensor x = randomTensor(makeType(shape, layout), 1);
    for (const Shape &other :
         {Shape{1, 20, 1, 1}, Shape{3, 1, 1, 1}, Shape{1, 1, 1, 1},
          Shape{1, 1, 7, 9}, Shape{3, 20, 1, 9}, Shape{3, 1, 7, 9}}) {
      Tensor b = randomTensor(makeType(other, layout), 2);
      std::vector<double> expected;
      for (int64_t i = 0; i < count(shape); ++i) {
        int64_t rest = i, at = 0, stride = 1;
        for (size_t d = 4; d-- > 0;) {
          at += (other[d] == 1 ? 0 : rest % shape[d]) * stride;
          rest /= shape[d];
          stride *= other[d];
        }
        expected.push_back(x.values[i] - b.values[at]);
      }
      Launch launch = pointwise({{"subf", {0, 1}}}, {2});
      expectClose(launch.read(x).read(b).write(x.type).run()[0], expected,
                  1e-6);
    }
  }
}

TEST(PointwiseTest, NoInputs) {
  Launch launch = pointwise({{"constant", {}, kF32, "", 0.5}}, {0});
  expectClose(launch.write(makeType({2000})).run()[0],
              std::vector<double>(2000, 0.5), 0);
}

TEST(PointwiseTest, InPlace) {
  Tensor a = randomTensor(makeType({5000}), 1),
         b = randomTensor(makeType({5000}), 2);
  std::vector<double> sum, product, first = a.values;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum.push_back(a.values[i] + b.values[i]);
    product.push_back(a.values[i] * b.values[i]);
  }
  // The first result would destroy an operand of the second one if it were
  // written at once.
  for (auto [read, write] : {std::pair{0u, 0u}, std::pair{1u, 0u},
                             std::pair{0u, 1u}, std::pair{1u, 1u}}) {
    Launch launch = pointwise({{"addf", {0, 1}}, {"mulf", {0, 1}}}, {2, 3});
    std::vector<Tensor> results = launch.read(a)
                                      .read(b)
                                      .write(a.type)
                                      .write(a.type)
                                      .inPlace(read, write)
                                      .run();
    expectClose(results[0], sum, 1e-6);
    expectClose(results[1], product, 1e-6);
  }
  Launch both = pointwise({{"addf", {0, 1}}, {"mulf", {0, 1}}}, {2, 3});
  std::vector<Tensor> results = both.read(a)
                                    .read(b)
                                    .write(a.type)
                                    .write(a.type)
                                    .inPlace(0, 1)
                                    .inPlace(1, 0)
                                    .run();
  expectClose(results[0], sum, 1e-6);
  expectClose(results[1], product, 1e-6);
}

TEST(PointwiseTest, ResultsThatAreInputsOrEqual) {
  Tensor a = randomTensor(makeType({3000}), 1);
  Launch launch = pointwise({{"negf", {0}}}, {0, 1, 1});
  std::vector<Tensor> results =
      launch.read(a).write(a.type).write(a.type).write(a.type).run();
  expectClose(results[0], a.values, 0);
  expectClose(results[1], apply(a, [](double v) { return -v; }).values, 0);
  expectClose(results[2], results[1].values, 0);
}

TEST(PointwiseTest, IdentityInPlace) {
  Tensor a = randomTensor(makeType({3000}), 1),
         b = randomTensor(makeType({3000}), 2);
  Launch identity = pointwise({}, {0});
  expectClose(identity.read(a).write(a.type).inPlace(0, 0).run()[0], a.values,
              0);
  Launch swap = pointwise({}, {1, 0});
  std::vector<Tensor> results = swap.read(a)
                                    .read(b)
                                    .write(a.type)
                                    .write(a.type)
                                    .inPlace(0, 0)
                                    .inPlace(1, 1)
                                    .run();
  expectClose(results[0], b.values, 0);
  expectClose(results[1], a.values, 0);
}

TEST(PointwiseTest, LongProgram) {
  // Many values live at once: the blocks shrink. Then all are summed.
  constexpr uint32_t kCount = 120;
  std::vector<Instruction> program;
  for (uint32_t i = 0; i < kCount; ++i) {
    program.push_back({"addf", {i, 0}});
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    program.push_back({"addf", {i == 0 ? 0 : kCount + i, 1 + i}});
  }
  Tensor x = randomTensor(makeType({2500}), 1);
  Launch launch = pointwise(program, {2 * kCount});
  double factor = 1 + kCount * (kCount + 3) / 2.0;
  expectClose(launch.read(x).write(x.type).run()[0],
              apply(x, [&](double v) { return v * factor; }).values, 1e-5);
}

} // namespace vdnn::rt::conformance
