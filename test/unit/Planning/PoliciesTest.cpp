//===- PoliciesTest.cpp - the policies of the vDNN paper ------------------===//

#include "RandomProblems.h"
#include "Vgg.h"

#include "vdnn/Planning/Policy.h"
#include "vdnn/Planning/ProblemText.h"
#include "vdnn/Planning/Statistics.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace vdnn::planning;
using namespace vdnn::planning::test;

namespace {

Solution plan(const Problem &problem, const char *policy,
              Sync sync = Sync::Layer) {
  return findPolicy(policy)->plan(problem,
                                  {KernelPreference::Performance, sync});
}

std::set<std::string> offloaded(const Problem &problem, const char *policy) {
  std::set<std::string> names;
  for (const Transfer &transfer : plan(problem, policy).transfers) {
    names.insert(problem.tensors[transfer.tensor].name);
  }
  return names;
}

/// Per op that brings tensors back: which.
std::map<std::string, std::set<std::string>> prefetches(const Problem &problem,
                                                        const char *policy) {
  std::map<std::string, std::set<std::string>> result;
  for (const Transfer &transfer : plan(problem, policy).transfers) {
    result[problem.ops[transfer.prefetchAt].name].insert(
        problem.tensors[transfer.tensor].name);
  }
  return result;
}

const Transfer &transferOf(const Problem &problem, const Solution &solution,
                           const std::string &name) {
  TensorId tensor = findTensor(problem, name);
  for (const Transfer &transfer : solution.transfers) {
    if (transfer.tensor == tensor) {
      return transfer;
    }
  }
  ADD_FAILURE() << name << " is not offloaded";
  return solution.transfers.front();
}

/// Forward ops of one output each, and backward ops in reverse that read what
/// `saved` names (besides the gradient).
class Net {
public:
  TensorId input(const std::string &name) {
    problem.tensors.push_back(
        {name, 1000, TensorKind::Input, false, false, {}});
    return problem.tensors.size() - 1;
  }

  TensorId add(const std::string &name, OpClass opClass,
               std::vector<TensorId> reads, std::vector<TensorId> saved) {
    problem.tensors.push_back(
        {name, 1000, TensorKind::Activation, false, false, {}});
    TensorId result = problem.tensors.size() - 1;
    problem.ops.push_back({name,
                           opClass,
                           Phase::Forward,
                           int32_t(layers.size()),
                           std::move(reads),
                           {result},
                           {},
                           {{"k", 0, 1000}}});
    layers.emplace_back(opClass, std::move(saved));
    return result;
  }

  Problem finish() {
    problem.link = {1e9, 1e9, 1.0, 0};
    TensorId gradient = problem.ops.back().writes[0];
    for (size_t l = layers.size(); l-- > 0;) {
      std::vector<TensorId> reads = layers[l].second;
      reads.insert(reads.begin(), gradient);
      std::string name = "d." + problem.ops[l].name;
      problem.tensors.push_back(
          {name, 1000, TensorKind::Activation, false, false, {}});
      gradient = problem.tensors.size() - 1;
      problem.ops.push_back({name,
                             layers[l].first,
                             Phase::Backward,
                             int32_t(l),
                             std::move(reads),
                             {gradient},
                             {},
                             {{"k", 0, 1000}}});
    }
    problem.tensors[gradient].kind = TensorKind::Output;
    problem.tensors[gradient].liveOut = true;
    EXPECT_EQ(check(problem), std::vector<std::string>());
    return std::move(problem);
  }

private:
  Problem problem;
  std::vector<std::pair<OpClass, std::vector<TensorId>>> layers;
};

TEST(Policies, AreListedByName) {
  std::vector<std::string> names;
  for (const Policy *policy : policies()) {
    names.emplace_back(policy->name());
    EXPECT_EQ(findPolicy(policy->name()), policy);
    EXPECT_FALSE(policy->summary().empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"none", "all", "conv"}));
  EXPECT_EQ(findPolicy("some"), nullptr);
}

TEST(Policies, NoneMovesNothing) {
  EXPECT_TRUE(offloaded(vgg16(2), "none").empty());
}

TEST(Policies, AllOffloadsInputsOfFeatureExtractionLayers) {
  // ReLU works in place, so its X is gone; X of fc6 and behind belongs to the
  // classifier.
  std::set<std::string> expected = {
      "image",   "relu1_1", "relu1_2", "pool1",   "relu2_1", "relu2_2",
      "pool2",   "relu3_1", "relu3_2", "relu3_3", "pool3",   "relu4_1",
      "relu4_2", "relu4_3", "pool4",   "relu5_1", "relu5_2", "relu5_3"};
  EXPECT_EQ(offloaded(vgg16(2), "all"), expected);
}

TEST(Policies, ConvOffloadsInputsOfConvolutions) {
  std::set<std::string> expected = {
      "image", "relu1_1", "pool1",   "relu2_1", "pool2",   "relu3_1", "relu3_2",
      "pool3", "relu4_1", "relu4_2", "pool4",   "relu5_1", "relu5_2"};
  EXPECT_EQ(offloaded(vgg16(2), "conv"), expected);
}

TEST(Policies, LastLayerBeforeTheLossStays) {
  Net net;
  TensorId x = net.input("x");
  TensorId a = net.add("a", OpClass::Convolution, {x}, {x});
  TensorId b = net.add("b", OpClass::Convolution, {a}, {a});
  net.add("loss", OpClass::Loss, {b}, {b});
  EXPECT_EQ(offloaded(net.finish(), "all"), std::set<std::string>{"x"});
}

TEST(Policies, WhatNothingReadsAgainStays) {
  Net net;
  TensorId x = net.input("x");
  TensorId a = net.add("a", OpClass::Convolution, {x}, {});
  TensorId b = net.add("b", OpClass::Pool, {a}, {a});
  net.add("c", OpClass::Convolution, {b}, {});
  Problem problem = net.finish();
  EXPECT_EQ(offloaded(problem, "all"), std::set<std::string>{"a"});
  Solution solution = plan(problem, "all");
  EXPECT_EQ(solution.tensors[x].reason, "kept: dead after the forward pass");
}

TEST(Policies, LeavesWithTheLastConsumerOfAFork) {
  Net net;
  TensorId x = net.input("x");
  TensorId a = net.add("a", OpClass::Convolution, {x}, {x});
  TensorId b = net.add("b", OpClass::Convolution, {a}, {a});
  TensorId c = net.add("c", OpClass::Pool, {b}, {b});
  TensorId join = net.add("join", OpClass::Other, {c, a}, {});
  net.add("end", OpClass::Convolution, {join}, {join});
  Problem problem = net.finish();
  const Transfer transfer = transferOf(problem, plan(problem, "conv"), "a");
  EXPECT_EQ(transfer.offloadAt, findOp(problem, "join"));
  EXPECT_EQ(transfer.releaseAt, findOp(problem, "end"));
  EXPECT_EQ(transfer.neededAt, findOp(problem, "d.b"));
}

TEST(PrefetchWindow, VggUnderAll) {
  auto at = prefetches(vgg16(2), "all");
  // The classifier needs nothing back: its layers look through to pool5 and
  // conv5_3, and then wait at conv5_3.
  EXPECT_EQ(at["d.loss"], std::set<std::string>{"relu5_3"});
  EXPECT_EQ(at["d.fc8"], std::set<std::string>{"relu5_2"});
  EXPECT_EQ(at.count("d.fc7"), 0u);
  EXPECT_EQ(at.count("d.pool5"), 0u);
  EXPECT_EQ(at["d.conv5_3"], std::set<std::string>{"relu5_1"});
  EXPECT_EQ(at["d.conv2_1"], std::set<std::string>{"relu1_2"});
  EXPECT_EQ(at["d.pool1"], std::set<std::string>{"relu1_1"});
  EXPECT_EQ(at["d.conv1_2"], std::set<std::string>{"image"});
}

TEST(PrefetchWindow, LayersWithoutOffloadDoNotEndIt) {
  auto at = prefetches(vgg16(2), "conv");
  // Neither pool1 nor the activations between are offloaded.
  EXPECT_EQ(at["d.conv2_1"], std::set<std::string>{"relu1_1"});
  EXPECT_EQ(at["d.conv1_2"], std::set<std::string>{"image"});
  EXPECT_EQ(at.count("d.pool1"), 0u);
}

TEST(PrefetchWindow, NeverLooksPastAConvolutionThatNeedsNothing) {
  Net net;
  TensorId x = net.input("x");
  TensorId a = net.add("a", OpClass::Pool, {x}, {x});
  TensorId b = net.add("b", OpClass::Convolution, {a}, {});
  TensorId c = net.add("c", OpClass::Pool, {b}, {});
  net.add("d", OpClass::Pool, {c}, {});
  Problem problem = net.finish();
  // b needs nothing back and ends the window of d and c; b's own window reaches
  // a.
  auto at = prefetches(problem, "all");
  EXPECT_EQ(at, (std::map<std::string, std::set<std::string>>{{"d.b", {"x"}}}));
}

TEST(PrefetchWindow, WhatItMissedComesOnDemand) {
  Net net;
  TensorId x = net.input("x");
  TensorId a = net.add("a", OpClass::Convolution, {x}, {});
  TensorId b = net.add("b", OpClass::Convolution, {a}, {});
  // Reads an input of the first layer again, long before its own window.
  net.add("c", OpClass::Pool, {b}, {x});
  Problem problem = net.finish();
  const Transfer transfer = transferOf(problem, plan(problem, "all"), "x");
  EXPECT_EQ(transfer.prefetchAt, findOp(problem, "d.c"));
  EXPECT_EQ(transfer.neededAt, findOp(problem, "d.c"));
}

TEST(PrefetchWindow, AtMostOneLayerPerBackwardLayer) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Problem problem = randomProblem(seed, 15);
    for (const char *policy : {"all", "conv"}) {
      Solution solution = plan(problem, policy);
      std::map<OpId, std::set<int32_t>> early;
      for (const Transfer &transfer : solution.transfers) {
        const Op &at = problem.ops[transfer.prefetchAt];
        if (problem.ops[transfer.neededAt].layer != at.layer) {
          early[transfer.prefetchAt].insert(
              problem.ops[transfer.offloadAt].layer);
        }
      }
      for (const auto &[op, layers] : early) {
        EXPECT_EQ(layers.size(), 1u) << "seed " << seed;
      }
    }
  }
}

TEST(LayerSync, MeetsAtTheEndOfEachLayerThatCopies) {
  Problem problem = vgg16(2);
  Solution solution = plan(problem, "all");
  auto meets = [&](const std::string &op) {
    return std::binary_search(solution.barriers.begin(),
                              solution.barriers.end(), findOp(problem, op));
  };
  EXPECT_TRUE(meets("relu1_2"));   // behind conv1_2, which offloads
  EXPECT_FALSE(meets("pool1"));    // behind relu1_2, which does not
  EXPECT_TRUE(meets("d.relu1_2")); // behind pool1, which brings back
  EXPECT_FALSE(meets("d.conv1_2"));
  EXPECT_FALSE(meets("relu1_1")); // the image is dropped, not copied
  EXPECT_TRUE(plan(problem, "none").barriers.empty());
}

TEST(EventSync, IsNoSlowerAndNoLargerThanLayerSync) {
  for (uint32_t extra : {0u, 5u, 20u}) {
    Problem problem = vgg16(64, extra);
    for (const char *policy : {"all", "conv"}) {
      Program layer = buildProgram(problem, plan(problem, policy));
      Program event = buildProgram(problem, plan(problem, policy, Sync::Event));
      EXPECT_LE(event.devicePeak, layer.devicePeak + problem.alignment)
          << policy << extra;
      EXPECT_LT(measure(problem, event).stepNs, measure(problem, layer).stepNs)
          << policy << extra;
      EXPECT_LT(event.eventCount, layer.eventCount) << policy << extra;
    }
  }
}

TEST(EventSync, SpendsALargerBudgetOnShorterStalls) {
  Problem problem = vgg16(32, 20);
  Program tight = buildProgram(problem, plan(problem, "all", Sync::Event));
  problem.deviceBudget = tight.devicePeak * 3 / 2;
  Program loose = buildProgram(problem, plan(problem, "all", Sync::Event));
  EXPECT_LE(loose.devicePeak, *problem.deviceBudget);
  EXPECT_LT(measure(problem, loose).stepNs, measure(problem, tight).stepNs);
}

TEST(Kernels, ArePreferredByMemoryOrByTime) {
  Problem problem;
  problem.tensors = {{"x", 8, TensorKind::Input, false, false, {}},
                     {"y", 8, TensorKind::Output, false, true, {}}};
  problem.ops = {{"op",
                  OpClass::Convolution,
                  Phase::Forward,
                  0,
                  {0},
                  {1},
                  {},
                  {{"slow", 0, 90},
                   {"fast", 500, 10},
                   {"big", 900, 10},
                   {"small", 0, 80}}}};
  const Policy *none = findPolicy("none");
  EXPECT_EQ(none->plan(problem, {KernelPreference::Memory, Sync::Event}).choice,
            std::vector<uint32_t>{3});
  EXPECT_EQ(
      none->plan(problem, {KernelPreference::Performance, Sync::Event}).choice,
      std::vector<uint32_t>{1});
}

TEST(Reasons, AreThereForEveryTensor) {
  Problem problem = vgg16(2);
  for (const Policy *policy : policies()) {
    for (const TensorDecision &decision : policy->plan(problem, {}).tensors) {
      EXPECT_FALSE(decision.reason.empty());
    }
  }
  Solution solution = plan(problem, "all");
  auto reason = [&](const std::string &name) {
    return solution.tensors[findTensor(problem, name)].reason;
  };
  EXPECT_EQ(reason("conv1_1.w"), "kept: parameter");
  EXPECT_EQ(reason("loss"), "kept: output");
  EXPECT_EQ(reason("fc6"), "kept: dead after the forward pass");
  EXPECT_EQ(reason("pool5"),
            "kept: input of the classifier or of the last layer");
  EXPECT_EQ(reason("relu4_1").find("offloaded: idle "), 0u);
  EXPECT_NE(reason("relu4_1").find("3.1 MiB, copy "), std::string::npos)
      << reason("relu4_1");
}

} // namespace
