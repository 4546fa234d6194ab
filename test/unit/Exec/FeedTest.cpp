//===- FeedTest.cpp - which samples each step gets ------------------------===//

#include "FakeDevice.h"
#include "ToyPlan.h"

#include "runtime/exec/Feed.h"
#include "runtime/exec/files/Npy.h"
#include "runtime/support/AtomicFile.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace vdnn;
using namespace vdnn::rt;
using namespace vdnn::test;

namespace {

template <typename T>
std::string writeNpy(const std::string &name, schedule::ElementType element,
                     std::vector<int64_t> shape, const std::vector<T> &values) {
  std::string path = testing::TempDir() + name;
  std::string text = *npyHeader(element, shape);
  text.append(reinterpret_cast<const char *>(values.data()),
              values.size() * sizeof(T));
  EXPECT_TRUE(writeFile(path, text).ok());
  return path;
}

/// 10 samples 0 to 9; the toy plan takes batches of 4.
std::string tenSamples() {
  return writeNpy<float>("ten.npy", schedule::ElementType::F32, {10},
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

class FeedTest : public testing::Test {
protected:
  void SetUp() override {
    Result<std::unique_ptr<Executor>> created =
        Executor::create(makeToyPlan(), createFakeDevice(log));
    ASSERT_TRUE(created.ok()) << created.message();
    executor = std::move(*created);
  }

  Result<Feed> create(FeedOptions options) {
    return Feed::create(executor->schedule(), options);
  }

  std::vector<float> batch(Feed &feed, uint64_t step) {
    EXPECT_TRUE(feed.fill(*executor, step).ok());
    std::vector<float> values(4);
    std::memcpy(values.data(), executor->inputBytes(0).data(), 16);
    return values;
  }

  FakeLog log;
  std::unique_ptr<Executor> executor;
};

TEST_F(FeedTest, TrainingLeavesOutWhatDoesNotFillABatch) {
  Result<Feed> feed = create({{{"x", tenSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  EXPECT_EQ(feed->samples(), 10u);
  EXPECT_EQ(feed->batch(), 4u);
  EXPECT_EQ(feed->stepsPerPass(), 2u);
  EXPECT_EQ(batch(*feed, 0), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(batch(*feed, 1), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(batch(*feed, 2), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_TRUE(feed->synthetic().empty())
      << "vdnn.rate is no input of the user's";
}

TEST_F(FeedTest, InferenceFillsTheLastBatchUp) {
  Result<Feed> feed = create({{{"x", tenSamples()}}, {}, 0, true});
  ASSERT_TRUE(feed.ok());
  EXPECT_EQ(feed->stepsPerPass(), 3u);
  EXPECT_EQ(feed->samplesIn(1), 4u);
  EXPECT_EQ(feed->samplesIn(2), 2u);
  EXPECT_EQ(batch(*feed, 2), (std::vector<float>{8, 9, 0, 1}));
}

TEST_F(FeedTest, ShuffleVisitsEverySampleOnceAPassInAnotherOrder) {
  std::string path = writeNpy<float>("eight.npy", schedule::ElementType::F32,
                                     {8}, {0, 1, 2, 3, 4, 5, 6, 7});
  Result<Feed> feed = create({{{"x", path}}, 5, 0, false});
  ASSERT_TRUE(feed.ok());
  std::vector<float> passes[2];
  for (uint64_t step = 0; step < 4; ++step) {
    std::vector<float> values = batch(*feed, step);
    passes[step / 2].insert(passes[step / 2].end(), values.begin(),
                            values.end());
  }
  EXPECT_EQ(std::set<float>(passes[0].begin(), passes[0].end()).size(), 8u);
  EXPECT_EQ(std::set<float>(passes[1].begin(), passes[1].end()).size(), 8u);
  EXPECT_NE(passes[0], passes[1]);
  // A step depends on its number alone, not on the steps before.
  Result<Feed> other = create({{{"x", path}}, 5, 0, false});
  EXPECT_EQ(batch(*other, 3),
            (std::vector<float>(passes[1].begin() + 4, passes[1].end())));
  Result<Feed> another = create({{{"x", path}}, 6, 0, false});
  std::vector<float> first = batch(*another, 0);
  EXPECT_NE(first,
            (std::vector<float>(passes[0].begin(), passes[0].begin() + 4)));
}

TEST_F(FeedTest, ConvertsOnlyWhereExact) {
  std::string bytes = writeNpy<uint8_t>("bytes.npy", schedule::ElementType::U8,
                                        {4}, {0, 1, 254, 255});
  Result<Feed> feed = create({{{"x", bytes}}, {}, 0, false});
  ASSERT_TRUE(feed.ok());
  EXPECT_EQ(batch(*feed, 0), (std::vector<float>{0, 1, 254, 255}));

  std::string doubles = writeNpy<double>(
      "doubles.npy", schedule::ElementType::F64, {4}, {0.1, 1, 2, 3});
  Result<Feed> refused = create({{{"x", doubles}}, {}, 0, false});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("f64"), std::string::npos);
}

// What the test puts into the arena behind everybody's back stays there exactly
// as long as nobody fills the input.
class RefillTest : public FeedTest {
protected:
  /// Whether `feed` fills input x for step `step`, `rows` being what it wants
  /// there.
  bool fills(Feed &feed, uint64_t step, const std::vector<float> &rows) {
    float *x = reinterpret_cast<float *>(executor->device().hostArena());
    x[0] = -1;
    EXPECT_TRUE(feed.fill(*executor, step).ok());
    bool filled = x[0] != -1;
    if (filled) {
      EXPECT_EQ(std::vector<float>(x, x + 4), rows) << step;
    }
    x[0] = rows[0];
    return filled;
  }

  std::string fourSamples() {
    return writeNpy<float>("four.npy", schedule::ElementType::F32, {4},
                           {5, 6, 7, 8});
  }
  const std::vector<float> four = {5, 6, 7, 8};
};

TEST_F(RefillTest, TheSameRowsAreLeftAlone) {
  Result<Feed> feed = create({{{"x", fourSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  EXPECT_TRUE(fills(*feed, 0, four));
  EXPECT_FALSE(fills(*feed, 0, four));
  EXPECT_FALSE(fills(*feed, 1, four));
  ASSERT_TRUE(executor->step().ok()) << "which writes nothing there";
  EXPECT_FALSE(fills(*feed, 2, four));
}

TEST_F(RefillTest, SyntheticDataAreLeftAloneEvenWhereFilesAreShuffled) {
  Result<Feed> feed = create({{}, 3, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  std::vector<float> rows = batch(*feed, 0);
  EXPECT_TRUE(fills(*feed, 0, rows)) << "`batch` took the bytes";
  EXPECT_FALSE(fills(*feed, 1, rows));
}

TEST_F(RefillTest, OtherRowsAreFilled) {
  Result<Feed> feed = create({{{"x", tenSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  EXPECT_TRUE(fills(*feed, 0, {0, 1, 2, 3}));
  EXPECT_TRUE(fills(*feed, 1, {4, 5, 6, 7}));
  EXPECT_FALSE(fills(*feed, 3, {4, 5, 6, 7}));
  EXPECT_TRUE(fills(*feed, 2, {0, 1, 2, 3}));
}

TEST_F(RefillTest, AnotherOrderIsFilled) {
  Result<Feed> feed = create({{{"x", fourSamples()}}, 3, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  std::set<std::vector<float>> orders;
  for (uint64_t step = 0; step < 8; ++step) {
    std::vector<float> rows = batch(*feed, step); // takes the bytes
    orders.insert(rows);
    EXPECT_TRUE(fills(*feed, step + 100, batch(*feed, step + 100)));
    EXPECT_TRUE(fills(*feed, step, rows));
    EXPECT_FALSE(fills(*feed, step, rows));
  }
  EXPECT_GT(orders.size(), 3u);
}

TEST_F(RefillTest, WhateverElseMayHaveWrittenTheBytesMakesItFill) {
  Result<Feed> feed = create({{{"x", fourSamples()}}, {}, 0, false});
  Result<Feed> other = create({{{"x", tenSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok() && other.ok());
  EXPECT_TRUE(fills(*feed, 0, four));
  static_cast<void>(executor->inputBytes(0));
  EXPECT_TRUE(fills(*feed, 1, four));
  ASSERT_TRUE(executor
                  ->write(0, makeHostTensor("x", schedule::ElementType::F32,
                                            {4}, std::vector<std::byte>(16)))
                  .ok());
  EXPECT_TRUE(fills(*feed, 2, four));
  EXPECT_TRUE(fills(*other, 0, {0, 1, 2, 3}));
  EXPECT_TRUE(fills(*feed, 3, four));
  static_cast<void>(executor->inputBytes(1)); // another input's
  EXPECT_FALSE(fills(*feed, 4, four));
  // Another executor's buffer holds nothing yet.
  std::unique_ptr<Executor> first = std::move(executor);
  SetUp();
  EXPECT_TRUE(fills(*feed, 5, four));
}

// A plan may put other values where an input was, once it has been read.
TEST_F(RefillTest, AStepThatReusesTheBytesMakesItFill) {
  schedule::ScheduleT plan = makeToyPlan();
  for (const auto &buffer : plan.buffers) {
    if (buffer->name == "act" && buffer->arena == schedule::Arena::Host) {
      buffer->offset = 0;
    }
  }
  plan.host_arena = 24;
  Result<std::unique_ptr<Executor>> created =
      Executor::create(std::move(plan), createFakeDevice(log));
  ASSERT_TRUE(created.ok()) << created.message();
  executor = std::move(*created);
  Result<Feed> feed = create({{{"x", fourSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok()) << feed.message();
  EXPECT_TRUE(fills(*feed, 0, four));
  EXPECT_FALSE(fills(*feed, 0, four));
  ASSERT_TRUE(executor->step().ok());
  EXPECT_TRUE(fills(*feed, 1, four));
}

TEST_F(RefillTest, StagingBuffersAreLeftAloneToo) {
  Result<std::unique_ptr<Executor>> created =
      Executor::create(makeStagedToyPlan(), createFakeDevice(log));
  ASSERT_TRUE(created.ok()) << created.message();
  Executor &staged = **created;
  Result<Feed> feed =
      Feed::create(staged.schedule(), {{{"x", fourSamples()}}, {}, 0, false});
  ASSERT_TRUE(feed.ok() && feed->stages());
  float *x = reinterpret_cast<float *>(staged.device().hostArena());
  ASSERT_TRUE(feed->stage(staged, 0).ok());
  EXPECT_EQ(x[0], 5);
  ASSERT_TRUE(staged.enterStaged().ok());
  x[0] = -1;
  ASSERT_TRUE(feed->stage(staged, 1).ok());
  ASSERT_TRUE(staged.step([&] { return feed->stage(staged, 2); }).ok());
  EXPECT_EQ(x[0], -1);
  ASSERT_TRUE(staged
                  .write(*staged.find("x"),
                         makeHostTensor("x", schedule::ElementType::F32, {4},
                                        std::vector<std::byte>(16)))
                  .ok());
  ASSERT_TRUE(feed->stage(staged, 3).ok());
  EXPECT_EQ(x[0], 5);
}

/// A plan of one input, [64, 131072] f32, that nothing reads.
schedule::ScheduleT makeLargeInput() {
  schedule::ScheduleT plan = makeToyPlan();
  schedule::ScheduleT large;
  large.version = plan.version;
  large.target = std::move(plan.target);
  auto x = std::make_unique<schedule::TensorT>();
  x->name = "x";
  x->role = schedule::Role::Input;
  x->type = std::make_unique<schedule::TypeT>();
  x->type->shape = {64, 131072};
  x->bytes = uint64_t{64} * 131072 * 4;
  x->entry = 0;
  auto buffer = std::make_unique<schedule::BufferT>();
  buffer->name = "x";
  buffer->tensor = 0;
  buffer->arena = schedule::Arena::Host;
  buffer->bytes = large.host_arena = x->bytes;
  buffer->alignment = 64;
  large.tensors.push_back(std::move(x));
  large.buffers.push_back(std::move(buffer));
  return large;
}

// So large that several threads fill it.
TEST(Feed, EveryRowOfALargeBatchIsFilled) {
  std::vector<uint8_t> rows(size_t{100} * 131072);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<uint8_t>(i / 131072 + i % 7);
  }
  std::string path = writeNpy<uint8_t>("large.npy", schedule::ElementType::U8,
                                       {100, 131072}, rows);
  FakeLog log;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(makeLargeInput(), createFakeDevice(log));
  ASSERT_TRUE(executor.ok()) << executor.message();
  Result<Feed> feed =
      Feed::create((*executor)->schedule(), {{{"x", path}}, {}, 0, true});
  ASSERT_TRUE(feed.ok()) << feed.message();
  EXPECT_FALSE(feed->stages());
  ASSERT_TRUE(feed->fill(**executor, 1).ok()); // rows 64 to 99, then 0 to 27
  std::span<std::byte> bytes = (*executor)->inputBytes(0);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    wrong += values[i] != rows[(size_t{64} * 131072 + i) % rows.size()];
  }
  EXPECT_EQ(wrong, 0u);
}

// The same in every way that rows get to their places: copied or converted, in
// the order of the file or another, row major or channels last.
TEST(Feed, RowsOfALargeBatchFindTheirPlaces) {
  constexpr size_t kRow = 131072, kHalf = kRow / 2;
  std::vector<uint8_t> bytes(size_t{70} * kRow);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(i % kRow == 0 ? i / kRow
                                                  : (i / kRow + i * 7) % 251);
  }
  std::vector<float> floats(bytes.begin(), bytes.end());
  std::vector<int64_t> shape = {70, 2, kHalf};
  std::string paths[2] = {
      writeNpy("large_f32.npy", schedule::ElementType::F32, shape, floats),
      writeNpy("large_u8.npy", schedule::ElementType::U8, shape, bytes)};
  for (int way = 0; way < 8; ++way) {
    bool last = way & 4;
    schedule::ScheduleT plan = makeLargeInput();
    plan.tensors[0]->type->shape = {64, 2, kHalf};
    if (last) {
      plan.tensors[0]->type->layout = schedule::Layout::ChannelsLast;
    }
    FakeLog log;
    Result<std::unique_ptr<Executor>> executor =
        Executor::create(std::move(plan), createFakeDevice(log));
    ASSERT_TRUE(executor.ok()) << executor.message();
    FeedOptions options{{{"x", paths[way & 1]}}, {}, 0, true};
    if (way & 2) {
      options.shuffle = 3;
    }
    Result<Feed> feed = Feed::create((*executor)->schedule(), options);
    ASSERT_TRUE(feed.ok()) << feed.message();
    for (uint64_t step : {0, 1}) {
      ASSERT_TRUE(feed->fill(**executor, step).ok());
      auto *x =
          reinterpret_cast<const float *>((*executor)->device().hostArena());
      std::set<float> seen;
      size_t wrong = 0;
      for (size_t row = 0; row < 64; ++row) {
        auto source = static_cast<size_t>(x[row * kRow]);
        seen.insert(x[row * kRow]);
        ASSERT_LT(source, 70u);
        wrong += !(way & 2) && source != (step * 64 + row) % 70;
        for (size_t i = 0; i < kRow; ++i) {
          size_t at = last ? i % kHalf * 2 + i / kHalf : i;
          wrong += x[row * kRow + at] != floats[source * kRow + i];
        }
      }
      EXPECT_EQ(wrong, 0u) << way;
      EXPECT_EQ(seen.size(), 64u) << way;
    }
  }
}

TEST_F(FeedTest, RefusesWrongShapesNamesAndTooFewSamples) {
  std::string matrix = writeNpy<float>("matrix.npy", schedule::ElementType::F32,
                                       {4, 1}, {0, 1, 2, 3});
  EXPECT_FALSE(create({{{"x", matrix}}, {}, 0, false}).ok());
  std::string three =
      writeNpy<float>("three.npy", schedule::ElementType::F32, {3}, {0, 1, 2});
  EXPECT_FALSE(create({{{"x", three}}, {}, 0, false}).ok());
  EXPECT_TRUE(create({{{"x", three}}, {}, 0, true}).ok());
  std::string none =
      writeNpy<float>("none.npy", schedule::ElementType::F32, {0}, {});
  EXPECT_FALSE(create({{{"x", none}}, {}, 0, true}).ok());
  Result<Feed> unknown = create({{{"images", three}}, {}, 0, true});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.message(),
            "the plan has no input 'images', its inputs are 'x'");
  EXPECT_FALSE(
      create({{{"x", testing::TempDir() + "absent.npy"}}, {}, 0, true}).ok());
  EXPECT_FALSE(create({{{"x", "x.csv"}}, {}, 0, true}).ok());
}

TEST_F(FeedTest, SyntheticDataIsReproducible) {
  Result<Feed> a = create({{}, {}, 1, false});
  Result<Feed> b = create({{{"x", "synthetic"}}, {}, 1, false});
  Result<Feed> c = create({{}, {}, 2, false});
  EXPECT_EQ(a->synthetic(), (std::vector<std::string>{"x"}));
  EXPECT_EQ(a->stepsPerPass(), 1u);
  EXPECT_EQ(a->batch(), 4u);
  std::vector<float> first = batch(*a, 0);
  EXPECT_EQ(batch(*b, 7), first);
  EXPECT_NE(batch(*c, 0), first);
}

} // namespace
