//===- PointwiseSourceTest.cpp - scalar programs as CUDA C ----------------===//

#include "runtime/backend/cuda/PointwiseSource.h"
#include "runtime/backend/cuda/Compile.h"

#include <gtest/gtest.h>
#include <memory>

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::Layout;

namespace {

struct Instruction {
  std::string code;
  std::vector<uint32_t> operands = {};
  ElementType element = ElementType::F32;
  std::string predicate = "";
  double constant = 0;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> results;
  std::vector<schedule::TypeT> reads, writes;

  Result<PointwiseSource> generate() const {
    schedule::KernelT kernel;
    kernel.kind = "pointwise";
    kernel.program_results = results;
    for (const Instruction &instruction : instructions) {
      auto op = std::make_unique<schedule::ScalarOpT>();
      op->code = instruction.code;
      op->operands = instruction.operands;
      op->element = instruction.element;
      op->predicate = instruction.predicate;
      op->constant = instruction.constant;
      kernel.program.push_back(std::move(op));
    }
    std::vector<const schedule::TypeT *> readTypes, writeTypes;
    for (const schedule::TypeT &type : reads) {
      readTypes.push_back(&type);
    }
    for (const schedule::TypeT &type : writes) {
      writeTypes.push_back(&type);
    }
    return generatePointwise(kernel, {readTypes, writeTypes}, 132);
  }

  std::string text() const {
    Result<PointwiseSource> source = generate();
    EXPECT_TRUE(source.ok()) << source.message();
    return source.ok() ? source->text : "";
  }

  std::string refusal() const {
    Result<PointwiseSource> source = generate();
    EXPECT_FALSE(source.ok());
    return source.ok() ? "" : source.message();
  }
};

} // namespace

static schedule::TypeT makeType(std::vector<int64_t> shape,
                                ElementType element = ElementType::F32,
                                Layout layout = Layout::RowMajor) {
  schedule::TypeT type;
  type.shape = std::move(shape);
  type.element = element;
  type.layout = layout;
  return type;
}

static schedule::TypeT channelsLast(std::vector<int64_t> shape,
                                    ElementType element = ElementType::F32) {
  return makeType(std::move(shape), element, Layout::ChannelsLast);
}

static void expectCompiles(const Program &program) {
  Result<PointwiseSource> source = program.generate();
  ASSERT_TRUE(source.ok()) << source.message();
  Result<std::string> cubin = compile(source->text, 90);
  ASSERT_TRUE(cubin.ok()) << cubin.message() << "\n" << source->text;
  EXPECT_NE(cubin->find(PointwiseSource::kName), std::string::npos);
}

/// All given instructions on the operands, each a result: one compilation.
static void expectAllCompile(const std::vector<schedule::TypeT> &operands,
                             std::vector<Instruction> instructions) {
  Program program{std::move(instructions), {}, operands, {}};
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    program.results.push_back(static_cast<uint32_t>(operands.size() + i));
    program.writes.push_back(
        makeType(operands[0].shape, program.instructions[i].element));
  }
  expectCompiles(program);
}

static const std::vector<ElementType> kFloats = {
    ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16};
static const std::vector<ElementType> kIntegers = {
    ElementType::I64, ElementType::I32, ElementType::I16, ElementType::I8};

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

TEST(PointwiseSourceTest, FloatFunctionsOfAllTypes) {
  for (ElementType element : kFloats) {
    SCOPED_TRACE(schedule::EnumNameElementType(element));
    std::vector<Instruction> all;
    // Values of bf16 come from conversions alone: tensors give f32.
    bool converts = element == ElementType::BF16;
    uint32_t a = converts ? 2 : 0, b = a + 1;
    ElementType memory = converts ? ElementType::F32 : element;
    if (converts) {
      all.push_back({"truncf", {0}, element});
      all.push_back({"truncf", {1}, element});
    }
    for (const char *code :
         {"negf",  "absf",  "acos", "acosh", "asin",      "asinh",
          "atan",  "atanh", "cbrt", "ceil",  "cos",       "cosh",
          "erf",   "exp",   "exp2", "expm1", "floor",     "log",
          "log10", "log1p", "log2", "round", "roundeven", "rsqrt",
          "sin",   "sinh",  "sqrt", "tan",   "tanh",      "trunc"}) {
      all.push_back({code, {a}, element});
    }
    for (const char *code :
         {"addf", "subf", "mulf", "divf", "remf", "powf", "copysign", "atan2",
          "maximumf", "minimumf", "maxnumf", "minnumf"}) {
      all.push_back({code, {a, b}, element});
    }
    for (const char *predicate :
         {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge",
          "ult", "ule", "une", "uno"}) {
      all.push_back({"cmpf", {a, b}, ElementType::Bool, predicate});
    }
    if (element == ElementType::F32 || element == ElementType::F64) {
      all.push_back({"fma", {a, b, a}, element});
    }
    all.push_back({"select", {a + 44, a, b}, element});
    all.push_back({"constant", {}, element, "", 0.1});
    expectAllCompile({makeType({1000}, memory), makeType({1000}, memory)}, all);
  }
}

TEST(PointwiseSourceTest, IntegerInstructionsOfAllTypes) {
  for (ElementType element : kIntegers) {
    SCOPED_TRACE(schedule::EnumNameElementType(element));
    std::vector<Instruction> all;
    for (const char *code :
         {"addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "maxsi",
          "maxui", "minsi", "minui", "ipowi", "andi", "ori", "xori"}) {
      all.push_back({code, {0, 1}, element});
    }
    for (const char *predicate :
         {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"}) {
      all.push_back({"cmpi", {0, 1}, ElementType::Bool, predicate});
    }
    all.push_back({"select", {20, 0, 1}, element});
    all.push_back({"constant", {}, element, "", -7});
    expectAllCompile({makeType({1000}, element), makeType({1000}, element)},
                     all);
  }
}

TEST(PointwiseSourceTest, TruthValues) {
  std::vector<Instruction> all;
  for (const char *code : {"andi", "ori", "xori"}) {
    all.push_back({code, {0, 1}, ElementType::Bool});
  }
  for (const char *predicate : {"eq", "ne", "ult", "ule", "ugt", "uge"}) {
    all.push_back({"cmpi", {0, 1}, ElementType::Bool, predicate});
  }
  all.push_back({"select", {0, 1, 0}, ElementType::Bool});
  all.push_back({"constant", {}, ElementType::Bool, "", 1});
  for (ElementType element : kFloats) {
    all.push_back({"uitofp", {0}, element});
  }
  for (ElementType element : kIntegers) {
    all.push_back({"extui", {0}, element});
  }
  schedule::TypeT type = makeType({100}, ElementType::Bool);
  expectAllCompile({type, type}, all);
}

TEST(PointwiseSourceTest, ConversionsBetweenAllTypes) {
  for (ElementType from : kFloats) {
    std::vector<Instruction> all;
    for (ElementType to : kIntegers) {
      all.push_back({"fptosi", {0}, to});
      all.push_back({"fptoui", {0}, to});
    }
    for (ElementType to : kFloats) {
      all.push_back({"extf", {0}, to});
      all.push_back({"truncf", {0}, to});
    }
    expectAllCompile({makeType({100}, from)}, all);
  }
  for (ElementType from : kIntegers) {
    std::vector<Instruction> all;
    for (ElementType to : kFloats) {
      all.push_back({"sitofp", {0}, to});
      all.push_back({"uitofp", {0}, to});
    }
    for (const char *code : {"extsi", "extui", "trunci", "index_cast"}) {
      for (ElementType to : kIntegers) {
        all.push_back({code, {0}, to});
      }
      all.push_back({code, {0}, ElementType::Bool});
    }
    expectAllCompile({makeType({100}, from)}, all);
  }
}

TEST(PointwiseSourceTest, IntegersWithoutSign) {
  for (auto [element, value] :
       {std::pair(ElementType::U8, ElementType::I8),
        std::pair(ElementType::U16, ElementType::I16),
        std::pair(ElementType::U32, ElementType::I32),
        std::pair(ElementType::U64, ElementType::I64)}) {
    schedule::TypeT type = makeType({77}, element);
    expectCompiles({{{"divui", {0, 1}, value}}, {2}, {type, type}, {type}});
  }
}

/// Programs see f32: operands are widened, the result is rounded once.
TEST(PointwiseSourceTest, TensorsOfBf16) {
  schedule::TypeT bf16 = makeType({4096}, ElementType::BF16),
                  f32 = makeType({4096});
  Program sum{
      {{"addf", {0, 1}}, {"mulf", {2, 2}}}, {3, 2}, {bf16, f32}, {bf16, f32}};
  expectCompiles(sum);
  std::string text = sum.text();
  EXPECT_NE(text.find("o0 = toBF16(v3)"), std::string::npos) << text;
  EXPECT_NE(text.find("o1 = v2"), std::string::npos) << text;
  EXPECT_EQ(text.find("= roundBF16("), std::string::npos) << text;
  // Sixteen bytes per access, where no operand is wider.
  Program half{{{"negf", {0}}}, {1}, {bf16}, {bf16}};
  EXPECT_NE(half.text().find("#define WIDTH 8"), std::string::npos);
  EXPECT_NE(text.find("#define WIDTH 4"), std::string::npos);
  // A value that was rounded before is stored as it is.
  expectCompiles({{{"truncf", {0}, ElementType::BF16}}, {1}, {f32}, {bf16}});
  // The program says f32 where the tensor is bf16, not the reverse.
  EXPECT_FALSE((Program{{{"negf", {0}, ElementType::BF16}}, {1}, {bf16}, {bf16}}
                    .generate()
                    .ok()));
  EXPECT_FALSE((Program{{{"truncf", {0}, ElementType::BF16}}, {1}, {f32}, {f32}}
                    .generate()
                    .ok()));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// x - b
static Program difference(schedule::TypeT x, schedule::TypeT b) {
  return {
      {{"subf", {0, 1}, backend::scalarElement(x.element)}}, {2}, {x, b}, {x}};
}

TEST(PointwiseSourceTest, Broadcasts) {
  for (Layout layout : {Layout::RowMajor, Layout::ChannelsLast}) {
    for (int64_t channels : {20, 21}) {
      for (const std::vector<int64_t> &shape :
           std::vector<std::vector<int64_t>>{{1, channels, 1, 1},
                                             {3, 1, 1, 1},
                                             {1, 1, 1, 1},
                                             {1, 1, 7, 9},
                                             {3, channels, 1, 9},
                                             {3, 1, 7, 9}}) {
        expectCompiles(
            difference(makeType({3, channels, 7, 9}, ElementType::F32, layout),
                       makeType(shape, ElementType::F32, layout)));
      }
    }
  }
}

TEST(PointwiseSourceTest, ChannelVectorsAreLoadedWhole) {
  Program program =
      difference(channelsLast({8, 64, 56, 56}), channelsLast({1, 64, 1, 1}));
  std::string text = program.text();
  EXPECT_NE(text.find("Index offset1(Index i) { return i % 64u; }"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("*>(r1 + offset1(first))"), std::string::npos) << text;
}

TEST(PointwiseSourceTest, ImagesOfOneValuePerRowAreLoadedOnce) {
  Program program =
      difference(makeType({8, 64, 56, 56}), makeType({1, 64, 1, 1}));
  std::string text = program.text();
  EXPECT_NE(text.find("Index offset1(Index i) { return i / 3136u % 64u; }"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("x1[u] = r1[offset1(first)]"), std::string::npos) << text;
}

TEST(PointwiseSourceTest, OddChannelsAreLoadedOneByOne) {
  std::string text =
      difference(channelsLast({8, 63, 5, 4}), channelsLast({1, 63, 1, 1}))
          .text();
  EXPECT_NE(text.find("r1[offset1(first + k)]"), std::string::npos) << text;
}

TEST(PointwiseSourceTest, FlatProgramsServeAllLargeShapes) {
  auto relu = [](std::vector<int64_t> shape) {
    schedule::TypeT type = channelsLast(std::move(shape));
    return Program{{{"constant"}, {"maximumf", {0, 1}}}, {2}, {type}, {type}};
  };
  EXPECT_EQ(relu({64, 64, 56, 56}).text(), relu({64, 256, 28, 28}).text());
}

TEST(PointwiseSourceTest, SmallTensorsUseAllMultiprocessors) {
  auto relu = [](int64_t count) {
    schedule::TypeT type = makeType({count});
    return *Program{{{"constant"}, {"maximumf", {0, 1}}}, {2}, {type}, {type}}
                .generate();
  };
  EXPECT_EQ(relu(1 << 26).elementsPerThread, 16);
  EXPECT_EQ(relu(1 << 16).elementsPerThread, 4);
  EXPECT_EQ(relu(1 << 16).blocks(), 64);
  EXPECT_EQ(relu((1 << 16) + 1).blocks(), 65);
  EXPECT_EQ(relu(1).blocks(), 1);
}

TEST(PointwiseSourceTest, TensorsBeyond32BitsAreCountedIn64) {
  schedule::TypeT type = channelsLast({4096, 64, 128, 128}, ElementType::BF16);
  Program program =
      difference(type, channelsLast({1, 64, 1, 1}, ElementType::BF16));
  EXPECT_EQ(program.generate()->indexBytes, 8u);
  EXPECT_NE(program.text().find("i % 64ull"), std::string::npos);
  expectCompiles(program);
}

TEST(PointwiseSourceTest, SpecialShapesCompile) {
  schedule::TypeT scalar = makeType({});
  expectCompiles({{{"negf", {0}}}, {1}, {scalar}, {scalar}});
  // Constants alone; results that are operands or equal; other layouts.
  schedule::TypeT row = makeType({2, 6, 4, 4});
  expectCompiles(
      {{{"constant", {}, ElementType::F32, "", 0.5}}, {0}, {}, {row}});
  expectCompiles({{{"negf", {0}}}, {0, 1, 1}, {row}, {row, row, row}});
  expectCompiles(difference(channelsLast({2, 6, 4, 4}), row));
}

TEST(PointwiseSourceTest, LongProgramsCompile) {
  constexpr uint32_t kCount = 120;
  std::vector<Instruction> instructions;
  for (uint32_t i = 0; i < kCount; ++i) {
    instructions.push_back({"addf", {i, 0}});
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    instructions.push_back({"addf", {i == 0 ? 0 : kCount + i, 1 + i}});
  }
  schedule::TypeT type = makeType({2500});
  expectCompiles({instructions, {2 * kCount}, {type}, {type}});
}

TEST(PointwiseSourceTest, InPlacePairsAreOfFullShapeAndOneType) {
  schedule::TypeT x = makeType({4, 8}), row = makeType({1, 8}),
                  truth = makeType({4, 8}, ElementType::Bool);
  Program program{
      {{"addf", {0, 1}}, {"cmpf", {0, 1}, ElementType::Bool, "ogt"}},
      {2, 3},
      {x, row},
      {x, truth}};
  std::vector<schedule::InPlace> pairs = program.generate()->inPlace;
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].read(), 0u);
  EXPECT_EQ(pairs[0].write(), 0u);
}

TEST(PointwiseSourceTest, TheSameProgramGivesTheSameText) {
  auto make = [] {
    return difference(channelsLast({8, 63, 5, 4}), channelsLast({8, 1, 5, 4}));
  };
  EXPECT_EQ(make().text(), make().text());
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(PointwiseSourceTest, RefusesBadPrograms) {
  schedule::TypeT x = makeType({4}), truth = makeType({4}, ElementType::Bool);
  auto refusal = [&](std::vector<Instruction> instructions, uint32_t result,
                     const schedule::TypeT &operand,
                     const schedule::TypeT &written) {
    return Program{std::move(instructions), {result}, {operand}, {written}}
        .refusal();
  };
  EXPECT_EQ(refusal({{"frobnicate", {0}}}, 1, x, x),
            "instruction 'frobnicate' on (F32) is not known to this backend");
  EXPECT_EQ(refusal({{"negf", {1}}}, 1, x, x),
            "instruction 0 uses value 1 before it is computed");
  EXPECT_EQ(refusal({{"negf", {0}, ElementType::I32}}, 1, x, x),
            "instruction 'negf' on (F32) gives 'F32', but is declared 'I32'");
  EXPECT_EQ(refusal({{"negf", {0}}}, 7, x, x),
            "the program's result 7 is no value, there are 2");
  EXPECT_EQ(refusal({{"negf", {0}}}, 1, x, truth),
            "expected element type 'F32' of 'result 0', found 'Bool'");
  for (const Instruction &instruction :
       {Instruction{"addi", {0, 0}, ElementType::Bool},
        Instruction{"extsi", {0}, ElementType::I32}, Instruction{"sitofp", {0}},
        Instruction{"cmpi", {0, 0}, ElementType::Bool, "slt"}}) {
    EXPECT_NE(refusal({instruction}, 1, truth, truth).find("is not known"),
              std::string::npos)
        << instruction.code;
  }
  EXPECT_NE(refusal({{"constant", {}, ElementType::U8}}, 1, x, x)
                .find("constants of element type 'U8'"),
            std::string::npos);
}

TEST(PointwiseSourceTest, RefusesBadShapes) {
  EXPECT_EQ(difference(makeType({4, 8}), makeType({8})).refusal(),
            "expected operand 1 of the result's rank, found shape [8] for "
            "[4, 8]");
  EXPECT_EQ(difference(makeType({4, 8}), makeType({4, 2})).refusal(),
            "operand 1 of shape [4, 2] cannot be broadcast to [4, 8]");
}

} // namespace vdnn::rt::cuda
