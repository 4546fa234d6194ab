//===- UpdateTest.cpp - the weight update and dropout ---------------------===//

#include "Harness.h"

#include <algorithm>
#include <array>

namespace vdnn::rt::conformance {

//===----------------------------------------------------------------------===//
// SGD
//===----------------------------------------------------------------------===//

TEST(SgdTest, Plain) {
  schedule::TypeT type = makeType({7, 3, 3, 3}, Layout::ChannelsLast);
  Tensor w = randomTensor(type, 1), g = randomTensor(type, 2),
         rate = tensor(makeType({}), {0.25});
  std::vector<double> expected;
  for (size_t i = 0; i < w.values.size(); ++i) {
    expected.push_back(w.values[i] - 0.25 * (g.values[i] + 0.5 * w.values[i]));
  }
  for (int inPlace : {-1, 0, 1}) {
    Launch launch("sgd");
    launch.number("momentum", 0)
        .number("weight_decay", 0.5)
        .read(w)
        .read(g)
        .read(rate)
        .write(type);
    if (inPlace >= 0) {
      launch.inPlace(static_cast<uint32_t>(inPlace), 0);
    }
    expectClose(launch.run()[0], expected, 1e-6);
  }
}

TEST(SgdTest, Momentum) {
  schedule::TypeT type = makeType({1000});
  Tensor w = randomTensor(type, 1), g = randomTensor(type, 2),
         v = randomTensor(type, 3);
  Tensor rate = tensor(makeType({}), {0.5});
  for (bool nesterov : {false, true}) {
    std::vector<double> newW, newV;
    for (size_t i = 0; i < w.values.size(); ++i) {
      double gradient = g.values[i] + 0.125 * w.values[i];
      newV.push_back(0.75 * v.values[i] + gradient);
      newW.push_back(w.values[i] - 0.5 * (nesterov
                                              ? gradient + 0.75 * newV.back()
                                              : newV.back()));
    }
    for (bool inPlace : {false, true}) {
      Launch launch("sgd");
      launch.number("momentum", 0.75)
          .number("weight_decay", 0.125)
          .read(w)
          .read(g)
          .read(rate)
          .read(v);
      launch.write(type).write(type);
      if (nesterov) {
        launch.ints("nesterov", {1});
      }
      if (inPlace) {
        launch.inPlace(0, 0).inPlace(3, 1);
      }
      std::vector<Tensor> results = launch.run();
      expectClose(results[0], newW, 1e-6);
      expectClose(results[1], newV, 1e-6);
    }
  }
}

/// A gradient of bf16, and a rounded copy of the new parameter, which comes
/// last.
TEST(SgdTest, Bf16GradientAndCopy) {
  if (!backend().bf16) {
    GTEST_SKIP() << "the backend's updates take f32 alone";
  }
  for (int64_t elements : {3, 1000, 1003}) {
    schedule::TypeT type = makeType({elements}),
                    bf16 = makeType({elements}, Layout::RowMajor,
                                    ElementType::BF16);
    for (bool momentum : {false, true}) {
      for (ElementType element : {ElementType::F32, ElementType::BF16}) {
        Tensor w = randomTensor(type, 1), v = randomTensor(type, 3),
               g = randomTensor(makeType({elements}, Layout::RowMajor, element),
                                2);
        std::vector<double> newW, newV;
        for (size_t i = 0; i < w.values.size(); ++i) {
          double direction = g.values[i] + 0.125 * w.values[i];
          direction += momentum ? 0.75 * v.values[i] : 0;
          newV.push_back(direction);
          newW.push_back(w.values[i] - 0.5 * direction);
        }
        for (bool copies : {false, true}) {
          Launch launch("sgd");
          launch.number("momentum", momentum ? 0.75 : 0)
              .number("weight_decay", 0.125)
              .read(w)
              .read(g)
              .read(tensor(makeType({}), {0.5}))
              .write(type)
              .inPlace(0, 0);
          if (momentum) {
            launch.read(v).write(type).inPlace(3, 1);
          }
          if (copies) {
            launch.write(bf16);
          }
          std::vector<Tensor> results = launch.run();
          expectClose(results[0], newW, 1e-6);
          if (momentum) {
            expectClose(results[1], newV, 1e-6);
          }
          if (copies) {
            expectClose(results.back(),
                        rounded(ElementType::BF16, results[0].values), 0);
          }
        }
      }
    }
  }
}

/// The operands of updates that a group or single launches make.
struct Updates {
  std::vector<Tensor> parameters, gradients, velocities;
  bool momentum, copies, nesterov = false;

  Updates(const std::vector<schedule::TypeT> &types, ElementType gradient,
          bool momentum, bool copies)
      : momentum(momentum), copies(copies) {
    for (const schedule::TypeT &type : types) {
      uint64_t seed = 3 * parameters.size();
      parameters.push_back(randomTensor(type, seed));
      gradients.push_back(
          randomTensor(makeType(type.shape, type.layout, gradient), seed + 1));
      velocities.push_back(randomTensor(type, seed + 2));
    }
  }

  Launch start(const char *kind) const {
    Launch launch(kind);
    launch.number("momentum", momentum ? 0.7 : 0)
        .number("weight_decay", 0.01)
        .ints("nesterov", {nesterov});
    return launch;
  }

  schedule::TypeT copyOf(size_t i) const {
    const schedule::TypeT &type = parameters[i].type;
    return makeType(type.shape, type.layout, ElementType::BF16);
  }

  Launch group(bool inPlace) const {
    Launch launch = start("sgd_group");
    launch.read(tensor(makeType({}), {0.3}));
    auto count = static_cast<uint32_t>(parameters.size());
    for (const Tensor &parameter : parameters) {
      launch.read(parameter).write(parameter.type);
    }
    for (const Tensor &gradient : gradients) {
      launch.read(gradient);
    }
    if (momentum) {
      for (const Tensor &velocity : velocities) {
        launch.read(velocity).write(velocity.type);
      }
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (copies) {
        launch.write(copyOf(i));
      }
      if (inPlace) {
        launch.inPlace(1 + i, i);
        if (momentum) {
          launch.inPlace(1 + 2 * count + i, count + i);
        }
      }
    }
    return launch;
  }

  /// In the order of a group's results.
  std::vector<std::vector<std::byte>> runSingly() const {
    size_t count = parameters.size(), kinds = 1u + momentum + copies;
    std::vector<std::vector<std::byte>> all(count * kinds);
    for (size_t i = 0; i < count; ++i) {
      Launch launch = start("sgd");
      launch.read(parameters[i])
          .read(gradients[i])
          .read(tensor(makeType({}), {0.3}))
          .write(parameters[i].type);
      if (momentum) {
        launch.read(velocities[i]).write(velocities[i].type);
      }
      if (copies) {
        launch.write(copyOf(i));
      }
      std::vector<std::vector<std::byte>> results = launch.runForBytes();
      for (size_t kind = 0; kind < kinds; ++kind) {
        all[kind * count + i] = results[kind];
      }
    }
    return all;
  }
};

static const std::vector<schedule::TypeT> &oddTypes() {
  static const std::vector<schedule::TypeT> types = {
      makeType({1}),       makeType({1023}),
      makeType({0}),       makeType({7, 3, 3, 3}, Layout::ChannelsLast),
      makeType({1024}),    makeType({1025}),
      makeType({0}),       makeType({5, 2, 3, 3}),
      makeType({33, 200}), makeType({}),
      makeType({2}),       makeType({0})};
  return types;
}

/// The bits of single updates, whatever the sizes beside each other.
TEST(SgdGroupTest, EqualsSingleUpdates) {
  for (bool momentum : {false, true}) {
    for (ElementType element : activationElements()) {
      for (bool copies : {false, true}) {
        if (copies && !backend().bf16) {
          continue;
        }
        Updates updates(oddTypes(), element, momentum, copies);
        for (bool nesterov : {false, true}) {
          updates.nesterov = nesterov && momentum;
          std::vector<std::vector<std::byte>> expected = updates.runSingly();
          EXPECT_EQ(updates.group(/*inPlace=*/false).runForBytes(), expected);
          EXPECT_EQ(updates.group(/*inPlace=*/true).runForBytes(), expected);
        }
      }
    }
  }
}

TEST(SgdGroupTest, OneAndTheMost) {
  for (size_t count : {size_t{1}, size_t{64}}) {
    std::vector<schedule::TypeT> types;
    for (size_t i = 0; i < count; ++i) {
      types.push_back(makeType({static_cast<int64_t>(1 + 97 * i)}));
    }
    Updates updates(types, ElementType::F32, /*momentum=*/true,
                    /*copies=*/false);
    EXPECT_EQ(updates.group(/*inPlace=*/true).runForBytes(),
              updates.runSingly());
  }
  std::vector<schedule::TypeT> tooMany(65, makeType({2}));
  Status status = Updates(tooMany, ElementType::F32, true, false)
                      .group(/*inPlace=*/false)
                      .prepare();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("1 to 64 updates, found 196 operands"),
            std::string::npos)
      << status.message();
}

/// A result may take the place of its own parameter, velocity or gradient, and
/// of no other's.
TEST(SgdGroupTest, Refusals) {
  Updates updates({makeType({4}), makeType({4})}, ElementType::F32, true,
                  false);
  EXPECT_TRUE(updates.group(false).inPlace(3, 0).inPlace(6, 3).prepare().ok());
  EXPECT_FALSE(updates.group(false).inPlace(1, 1).prepare().ok());
  EXPECT_FALSE(updates.group(false).inPlace(4, 0).prepare().ok());
  EXPECT_FALSE(updates.group(false).inPlace(0, 0).prepare().ok());
  EXPECT_FALSE(updates.group(false).write(makeType({4})).prepare().ok());
  EXPECT_FALSE(
      updates.group(false).read(randomTensor(makeType({4}), 1)).prepare().ok());
  updates.gradients[1] = randomTensor(makeType({5}), 1);
  Status status = updates.group(false).prepare();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("update 1: "), std::string::npos)
      << status.message();
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Philox4x32-10, from its paper.
static std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0],
             b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

static Launch dropout(const Tensor &x, double ratio, int64_t id, int64_t seed,
                      int64_t step) {
  Launch launch("dropout");
  launch.number("ratio", ratio).ints("id", {id}).read(x).write(x.type);
  launch.read(tensor(makeType({}, Layout::RowMajor, ElementType::I64),
                     {static_cast<double>(seed)}));
  launch.read(tensor(makeType({}, Layout::RowMajor, ElementType::I64),
                     {static_cast<double>(step)}));
  return launch;
}

TEST(DropoutTest, PhiloxKnownAnswer) {
  // From the Random123 distribution.
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                     0x9b00dbd8}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                     0x24126ea1}));
}

TEST(DropoutTest, BitsAreThoseOfTheDocument) {
  constexpr int64_t kId = 5, kSeed = (int64_t{7} << 32) + 11,
                    kStep = (int64_t{1} << 33) + 3;
  std::vector<std::pair<double, ElementType>> cases;
  for (double ratio : {0.0, 0.3, 0.5, 0.999}) {
    for (ElementType element : activationElements()) {
      cases.emplace_back(ratio, element);
    }
  }
  for (const Shape &shape :
       {Shape{1, 1}, Shape{3, 7}, Shape{4, 300}, Shape{2, 33, 5, 9}}) {
    // The position counts in memory, so the layout matters.
    for (Layout layout : {Layout::RowMajor, Layout::ChannelsLast}) {
      for (auto [ratio, element] : cases) {
        Tensor x = randomTensor(makeType(shape, layout, element), 1, 1, 2);
        schedule::TypeT flat =
            makeType({count(shape)}, Layout::RowMajor, element);
        Tensor memory = Tensor::decode(flat, x.encode());
        std::vector<float> expected;
        for (int64_t position = 0; position < count(shape); ++position) {
          uint32_t word = philox({static_cast<uint32_t>(position / 4), kId,
                                  static_cast<uint32_t>(kStep), 2},
                                 {11, 7})[position % 4];
          bool keep = static_cast<double>(word >> 8) / (1 << 24) >= ratio;
          expected.push_back(keep
                                 ? static_cast<float>(memory.values[position]) *
                                       static_cast<float>(1 / (1 - ratio))
                                 : 0);
        }
        for (bool inPlace : {false, true}) {
          Launch launch = dropout(x, ratio, kId, kSeed, kStep);
          if (inPlace) {
            launch.inPlace(0, 0);
          }
          Tensor y = Tensor::decode(flat, launch.runForBytes()[0]);
          expectClose(y, rounded(element, {expected.begin(), expected.end()}),
                      0);
        }
      }
    }
  }
}

TEST(DropoutTest, ShareAndIndependence) {
  Tensor ones = tensor(makeType({10000}), std::vector<double>(10000, 1.0));
  auto kept = [&](int64_t id, int64_t seed, int64_t step) {
    return dropout(ones, 0.25, id, seed, step).run()[0].values;
  };
  std::vector<double> first = kept(1, 2, 3);
  int64_t zeros = std::count(first.begin(), first.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(zeros), 2500, 200);
  EXPECT_EQ(first, kept(1, 2, 3));
  EXPECT_NE(first, kept(2, 2, 3));
  EXPECT_NE(first, kept(1, 3, 3));
  EXPECT_NE(first, kept(1, 2, 4));
}

} // namespace vdnn::rt::conformance
