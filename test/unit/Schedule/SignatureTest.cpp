//===- SignatureTest.cpp - kernels as text --------------------------------===//

#include "runtime/schedule/Schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace vdnn::schedule;

namespace {

struct Example {
  Example() {
    kernel.kind = "pointwise";
    kernel.algorithm = "simple";
    attribute("axes")->ints = {3, 1};
    attribute("alpha")->number = 0.25;
    attribute("mode")->text = "same";
    op("constant")->constant = 2;
    op("cmpf")->operands = {0, 1};
    kernel.program.back()->predicate = "olt";
    kernel.program.back()->element = ElementType::Bool;
    kernel.program_results = {2};
    image.shape = {2, 3, 5, 7};
    image.layout = Layout::ChannelsLast;
    mask.element = ElementType::Bool;
    mask.shape = {2};
  }

  AttributeT *attribute(const char *name) {
    kernel.attributes.push_back(std::make_unique<AttributeT>());
    kernel.attributes.back()->name = name;
    return kernel.attributes.back().get();
  }

  ScalarOpT *op(const char *code) {
    kernel.program.push_back(std::make_unique<ScalarOpT>());
    kernel.program.back()->code = code;
    return kernel.program.back().get();
  }

  std::string text() const {
    std::vector<const TypeT *> reads = {&image, &mask};
    std::vector<const TypeT *> writes = {&image};
    return signature(kernel, reads, writes);
  }

  KernelT kernel;
  TypeT image, mask;
};

TEST(Signature, IsReadable) {
  EXPECT_EQ(Example().text(), "pointwise axes=3,1 alpha=0.25 mode=same "
                              "{ constant:F32(2) cmpf.olt:Bool(0,1) -> 2 }: "
                              "F32[2,3,5,7] channels last, Bool[2] -> "
                              "F32[2,3,5,7] channels last");
}

TEST(Signature, LeavesOutTheAlgorithm) {
  Example other;
  other.kernel.algorithm = "another";
  EXPECT_EQ(other.text(), Example().text());
}

TEST(Signature, TellsEveryDifference) {
  using Change = std::function<void(Example &)>;
  const std::vector<std::pair<const char *, Change>> changes = {
      {"kind", [](Example &e) { e.kernel.kind = "reduce"; }},
      {"an attribute's name",
       [](Example &e) { e.kernel.attributes[0]->name = "pads"; }},
      {"integers", [](Example &e) { e.kernel.attributes[0]->ints = {31}; }},
      {"a number",
       [](Example &e) {
         e.kernel.attributes[1]->number = std::nextafter(0.25, 1);
       }},
      {"a text", [](Example &e) { e.kernel.attributes[2]->text = "valid"; }},
      {"one attribute less",
       [](Example &e) { e.kernel.attributes.pop_back(); }},
      {"a constant",
       [](Example &e) {
         e.kernel.program[0]->constant = std::nextafter(2.0, 3);
       }},
      {"a scalar op", [](Example &e) { e.kernel.program[1]->code = "cmpi"; }},
      {"operands", [](Example &e) { e.kernel.program[1]->operands = {1, 0}; }},
      {"a predicate",
       [](Example &e) { e.kernel.program[1]->predicate = "ult"; }},
      {"a scalar's type",
       [](Example &e) { e.kernel.program[0]->element = ElementType::F64; }},
      {"results", [](Example &e) { e.kernel.program_results = {1}; }},
      {"no program",
       [](Example &e) {
         e.kernel.program.clear();
         e.kernel.program_results.clear();
       }},
      {"an element type",
       [](Example &e) { e.image.element = ElementType::BF16; }},
      {"a shape", [](Example &e) { e.image.shape = {2, 3, 7, 5}; }},
      {"a rank", [](Example &e) { e.mask.shape = {}; }},
      {"a layout", [](Example &e) { e.image.layout = Layout::RowMajor; }},
  };
  const std::string original = Example().text();
  std::vector<std::string> texts = {original};
  for (const auto &[what, change] : changes) {
    Example changed;
    change(changed);
    texts.push_back(changed.text());
    EXPECT_NE(texts.back(), original) << what;
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

TEST(Signature, TellsReadsFromWrites) {
  Example e;
  std::vector<const TypeT *> both = {&e.image, &e.mask};
  std::vector<const TypeT *> none;
  EXPECT_NE(signature(e.kernel, both, none), signature(e.kernel, none, both));
}

} // namespace
