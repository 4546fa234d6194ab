//===- ConvQueryTest.cpp - convolutions of a GPU that is not here ---------===//
//
// What the compiler asks of cuDNN, on the properties of an H200. Passing on a
// machine without a GPU shows that none is needed.
//
//===----------------------------------------------------------------------===//

#include "runtime/backend/cuda/ConvGraph.h"
#include "runtime/backend/cuda/Factories.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>

namespace vdnn::rt::cuda {

using schedule::ElementType;
using schedule::TypeT;

namespace {

const Properties &h200() {
  static const Properties properties = [] {
    std::ifstream file("runtime/backend/cuda/devices/h200.json");
    std::string json(std::istreambuf_iterator<char>(file), {});
    Result<Properties> parsed = Properties::parse(json);
    EXPECT_TRUE(parsed.ok()) << parsed.message();
    return parsed.ok() ? *parsed : Properties();
  }();
  return properties;
}

/// A square convolution with "same" padding, or a kernel of it.
struct Conv {
  const char *name;
  int64_t batch, channels, size, outputs, window, stride;
  int64_t group = 1;
};

class Launch {
public:
  Launch(const std::string &kind, const Conv &c, ElementType element,
         bool bias = false, ElementType biasElement = ElementType::F32) {
    kernel_.kind = kind;
    attribute("strides", {c.stride, c.stride});
    attribute("dilations", {1, 1});
    int64_t begin = (c.window - 1) / 2, end = c.window / 2;
    attribute("pads", {begin, begin, end, end});
    attribute("group", {c.group});
    int64_t out = (c.size - 1) / c.stride + 1;
    x_ = type({c.batch, c.channels, c.size, c.size}, element);
    w_ = type({c.outputs, c.channels / c.group, c.window, c.window}, element);
    y_ = type({c.batch, c.outputs, out, out}, element);
    bias_ = type({c.outputs}, biasElement);
    if (kind == "conv") {
      reads_ = {&x_, &w_};
      writes_ = {&y_};
    } else if (kind == "conv_backward_data") {
      reads_ = {&y_, &w_};
      writes_ = {&x_};
    } else {
      reads_ = {&x_, &y_};
      writes_ = {&w_};
    }
    if (bias) {
      (kind == "conv" ? reads_ : writes_).push_back(&bias_);
    }
  }
  Launch(const Launch &) = delete;

  Launch &nondeterministic(bool value = true) {
    kernel_.nondeterministic = value;
    return *this;
  }
  Result<std::vector<KernelCandidate>> query() {
    return queryKernel({kernel_, {reads_, writes_}, h200()});
  }
  Result<Kernel> create(const std::string &algorithm) {
    kernel_.algorithm = algorithm;
    return createKernel({kernel_, {reads_, writes_}, h200()});
  }

private:
  static TypeT type(std::vector<int64_t> shape, ElementType element) {
    TypeT result;
    result.layout = shape.size() > 2 ? schedule::Layout::ChannelsLast
                                     : schedule::Layout::RowMajor;
    result.shape = std::move(shape);
    result.element = element;
    return result;
  }
  void attribute(const char *name, std::vector<int64_t> values) {
    kernel_.attributes.push_back(std::make_unique<schedule::AttributeT>());
    kernel_.attributes.back()->name = name;
    kernel_.attributes.back()->ints = std::move(values);
  }

  schedule::KernelT kernel_;
  TypeT x_, w_, y_, bias_;
  std::vector<const TypeT *> reads_, writes_;
};

const Conv kConvs[] = {
    {"stem", 32, 3, 224, 64, 7, 2},
    {"reduce", 32, 256, 56, 64, 1, 1},
    {"window", 32, 64, 56, 64, 3, 1},
    {"expand", 32, 64, 56, 256, 1, 1},
    {"strided", 32, 128, 56, 128, 3, 2},
    {"shortcut", 32, 256, 56, 512, 1, 2},
    {"last", 32, 512, 7, 512, 3, 1},
    {"grouped", 32, 128, 28, 128, 3, 1, 32},
    {"depthwise", 32, 96, 28, 96, 3, 1, 96},
};

const char *const kKinds[] = {"conv", "conv_backward_data",
                              "conv_backward_filter"};

class ConvQueryTest
    : public testing::TestWithParam<std::tuple<Conv, const char *, bool>> {};

} // namespace

TEST_P(ConvQueryTest, Candidates) {
  auto [conv, kind, isBf16] = GetParam();
  ElementType element = isBf16 ? ElementType::BF16 : ElementType::F32;
  for (bool bias : {false, true}) {
    if (bias && std::string(kind) == "conv_backward_data") {
      continue;
    }
    Launch launch(kind, conv, element, bias);
    auto candidates = launch.query();
    ASSERT_TRUE(candidates.ok()) << candidates.message();
    std::set<std::string> names;
    const KernelCandidate *first = nullptr;
    for (const KernelCandidate &candidate : *candidates) {
      SCOPED_TRACE(candidate.algorithm);
      EXPECT_TRUE(names.insert(candidate.algorithm).second);
      EXPECT_FALSE(candidate.nondeterministic);
      EXPECT_FALSE(isBf16 && candidate.reducedPrecision);
      first = first || candidate.reducedPrecision ? first : &candidate;
      EXPECT_LT(candidate.workspaceBytes, uint64_t{4} << 30);
      // The text says all: an engine that is made from it alone is the same.
      // (Engines that are nondeterministic would be refused here.)
      Result<Kernel> kernel = launch.create(candidate.algorithm);
      ASSERT_TRUE(kernel.ok()) << kernel.message();
      EXPECT_EQ(kernel->workspaceBytes, candidate.workspaceBytes);
      std::string engine = candidate.algorithm;
      std::string suffix = ConvVariant::take(engine).suffix();
      auto choice = cudnn::EngineChoice::parse(engine);
      ASSERT_TRUE(choice.ok()) << choice.message();
      EXPECT_EQ(choice->toString() + suffix, candidate.algorithm);
    }
    ASSERT_TRUE(first) << "nothing in full precision";
    Result<Kernel> kernel = launch.create("");
    ASSERT_TRUE(kernel.ok()) << kernel.message();
    EXPECT_EQ(kernel->workspaceBytes, first->workspaceBytes);
  }
}

TEST_P(ConvQueryTest, NondeterministicCandidatesComeOnTop) {
  auto [conv, kind, isBf16] = GetParam();
  Launch launch(kind, conv, isBf16 ? ElementType::BF16 : ElementType::F32);
  auto some = launch.query();
  ASSERT_TRUE(some.ok()) << some.message();
  auto all = launch.nondeterministic().query();
  ASSERT_TRUE(all.ok()) << all.message();
  std::vector<std::string> expected, found;
  for (const KernelCandidate &candidate : *some) {
    expected.push_back(candidate.algorithm);
  }
  for (const KernelCandidate &candidate : *all) {
    SCOPED_TRACE(candidate.algorithm);
    Result<Kernel> kernel =
        launch.nondeterministic().create(candidate.algorithm);
    ASSERT_TRUE(kernel.ok()) << kernel.message();
    EXPECT_EQ(kernel->workspaceBytes, candidate.workspaceBytes);
    if (!candidate.nondeterministic) {
      found.push_back(candidate.algorithm);
      continue;
    }
    // A plan that does not say so may not run it.
    Result<Kernel> refused =
        launch.nondeterministic(false).create(candidate.algorithm);
    ASSERT_FALSE(refused.ok());
    for (const std::string &part :
         {std::string(kind),
          "'" + candidate.algorithm + "' is nondeterministic",
          std::string("--allow-nondeterministic")}) {
      EXPECT_NE(refused.message().find(part), std::string::npos)
          << refused.message();
    }
  }
  EXPECT_EQ(found, expected);
  if (isBf16 || std::string(kind) == "conv") {
    return;
  }
  EXPECT_GT(all->size(), some->size()) << "cuDNN has some in f32";
  // Without a name nothing changes.
  EXPECT_EQ(launch.nondeterministic().create("")->workspaceBytes,
            launch.nondeterministic(false).create("")->workspaceBytes);
}

static std::string
nameOf(const testing::TestParamInfo<ConvQueryTest::ParamType> &info) {
  auto [conv, kind, isBf16] = info.param;
  return std::string(conv.name) + "_" + kind + (isBf16 ? "_bf16" : "_f32");
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvQueryTest,
                         testing::Combine(testing::ValuesIn(kConvs),
                                          testing::ValuesIn(kKinds),
                                          testing::Bool()),
                         nameOf);

TEST(ConvQuery, TensorCoresReducePrecisionOfF32) {
  auto candidates = Launch("conv", kConvs[2], ElementType::F32).query();
  ASSERT_TRUE(candidates.ok()) << candidates.message();
  EXPECT_TRUE(candidates->front().reducedPrecision);
  EXPECT_TRUE(std::any_of(candidates->begin(), candidates->end(),
                          [](auto &c) { return !c.reducedPrecision; }));
}

TEST(ConvQuery, BiasesOfTwoTypes) {
  for (const char *kind : {"conv", "conv_backward_filter"}) {
    for (ElementType bias : {ElementType::F32, ElementType::BF16}) {
      Launch launch(kind, kConvs[2], ElementType::BF16, true, bias);
      EXPECT_TRUE(launch.query().ok());
    }
    Launch launch(kind, kConvs[2], ElementType::F32, true, ElementType::BF16);
    auto candidates = launch.query();
    ASSERT_FALSE(candidates.ok());
    EXPECT_NE(candidates.message().find("element type 'F32' of 'bias'"),
              std::string::npos)
        << candidates.message();
  }
}

TEST(ConvQuery, OwnWorkBesideEngines) {
  auto offers = [](Launch &launch, const std::string &suffix) {
    auto candidates = launch.query();
    if (!candidates.ok()) {
      return false;
    }
    for (const KernelCandidate &candidate : *candidates) {
      EXPECT_EQ(candidate.ownCode,
                candidate.algorithm.find('+') != std::string::npos)
          << candidate.algorithm;
    }
    return std::any_of(candidates->begin(), candidates->end(),
                       [&](auto &c) { return c.algorithm.ends_with(suffix); });
  };
  const Conv &stem = kConvs[0], &wide = kConvs[2];
  for (ElementType element : {ElementType::F32, ElementType::BF16}) {
    for (const char *kind : {"conv", "conv_backward_filter"}) {
      Launch image(kind, stem, element, false), other(kind, wide, element);
      EXPECT_TRUE(offers(image, "+pad"));
      EXPECT_FALSE(offers(other, "+pad"));
      auto refused = other.create("cudnn:e28+pad");
      ASSERT_FALSE(refused.ok());
      EXPECT_NE(refused.message().find("needs an image and a filter of few"),
                std::string::npos);
    }
    Launch biased("conv", wide, element, true);
    EXPECT_EQ(offers(biased, "+bias"), element == ElementType::F32);
    Launch plain("conv", wide, element, false);
    EXPECT_FALSE(plain.create("cudnn:e28+bias").ok());
  }
}

TEST(ConvQuery, WrongEnginesAreNeitherOfferedNorTaken) {
  Launch launch("conv_backward_filter", kConvs[0], ElementType::BF16);
  auto candidates = launch.query();
  ASSERT_TRUE(candidates.ok()) << candidates.message();
  for (const KernelCandidate &candidate : *candidates) {
    EXPECT_FALSE(candidate.algorithm.starts_with("cudnn:e47"))
        << candidate.algorithm;
  }
  auto refused = launch.create("cudnn:e47,k0=18,k2=5,k5=3,k14=6");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("computes wrong results"), std::string::npos)
      << refused.message();
}

/// Where windows are even, padding is not the same on both sides.
TEST(ConvQuery, EnginesThatUnequalPadsMislead) {
  const Conv even = {"even", 32, 64, 56, 64, 2, 1},
             odd = {"odd", 32, 64, 56, 64, 3, 1};
  auto engines = [](const Conv &conv) {
    Launch launch("conv_backward_filter", conv, ElementType::F32);
    auto candidates = launch.nondeterministic().query();
    EXPECT_TRUE(candidates.ok()) << candidates.message();
    std::set<std::string> names;
    for (const KernelCandidate &candidate : *candidates) {
      names.insert(
          candidate.algorithm.substr(0, candidate.algorithm.find(',')));
    }
    return names;
  };
  std::set<std::string> known = engines(odd), offered = engines(even);
  for (const char *wrong : {"cudnn:e1", "cudnn:e20"}) {
    EXPECT_TRUE(known.count(wrong)) << wrong;
    EXPECT_FALSE(offered.count(wrong)) << wrong;
    Launch launch("conv_backward_filter", even, ElementType::F32);
    auto refused = launch.nondeterministic().create(wrong);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.message().find("computes wrong results"),
              std::string::npos)
        << refused.message();
  }
}

TEST(ConvQuery, UnknownAlgorithms) {
  Launch launch("conv", kConvs[2], ElementType::F32);
  for (const char *text :
       {"magic", "cudnn", "cudnn:", "cudnn:e", "cudnn:e1,", "cudnn:e1,k",
        "cudnn:e1,k2", "cudnn:e1,k2=", "cudnn:e1,k2=3,k2=3", "cudnn:e-1",
        "cudnn:e1,k-2=3", "cudnn:e01", "cudnn:e1,k3=0,k2=0", "cudnn:e1 ",
        "cudnn:e1;k2=3", "cudnn:e99999999999999999999"}) {
    Result<Kernel> kernel = launch.create(text);
    ASSERT_FALSE(kernel.ok()) << text;
    EXPECT_NE(
        kernel.message().find("unknown algorithm '" + std::string(text) + "'"),
        std::string::npos)
        << kernel.message();
  }
  for (const char *text : {"cudnn:e100000", "cudnn:e28,k2=100000",
                           "cudnn:e28,k43=1", "cudnn:e28,k999=1"}) {
    Result<Kernel> kernel = launch.create(text);
    ASSERT_FALSE(kernel.ok()) << text;
    EXPECT_NE(kernel.message().find("does not compute these shapes"),
              std::string::npos)
        << kernel.message();
  }
}

TEST(ConvQuery, GraphsHaveKeysOfTheirOwn) {
  auto key = [](int64_t stride, cudnnDataType_t type) {
    cudnn::Graph graph;
    std::vector<int64_t> shape = {8, 8, 8, 8}, strides = {512, 1, 64, 8};
    cudnn::Node x = graph.tensor(type, shape, strides),
                w = graph.tensor(type, shape, strides),
                y = graph.tensor(type, shape, strides);
    graph.convolution({{stride, stride}, {1, 1}, {0, 0}, {0, 0}}, x, w, y);
    return graph.key();
  };
  EXPECT_EQ(key(1, CUDNN_DATA_FLOAT), key(1, CUDNN_DATA_FLOAT));
  EXPECT_NE(key(1, CUDNN_DATA_FLOAT), key(2, CUDNN_DATA_FLOAT));
  EXPECT_NE(key(1, CUDNN_DATA_FLOAT), key(1, CUDNN_DATA_BFLOAT16));
}

TEST(ConvQuery, RepeatedQueriesAreLookUps) {
  Launch launch("conv", kConvs[2], ElementType::F32);
  ASSERT_TRUE(launch.query().ok());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(launch.query().ok());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

} // namespace vdnn::rt::cuda
