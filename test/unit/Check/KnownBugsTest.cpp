//===- KnownBugsTest.cpp - races and reuse mistakes that other systems had,
// rebuilt as plans -----------------------===//
//
// Each test is named after the mechanism, builds the plan with the mistake,
// which must be rejected, and without it, which must be accepted.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

using namespace vdnn::rt;
using namespace vdnn::rt::test;
using namespace vdnn::schedule;

namespace {

enum class Variant { Right, Wrong };

void expectOnlyRightAccepted(ScheduleT (*build)(Variant),
                             const std::string &invariant,
                             const std::vector<std::string> &parts) {
  expectAccepted(build(Variant::Right));
  expectRejected(build(Variant::Wrong), invariant, parts);
}

/// The "current stream" was asked for inside the side stream's context, so the
/// side stream waits for itself: no wait.
ScheduleT waitOnTheWrongStream(Variant variant) {
  PlanBuilder plan;
  plan.device("a.made", 64, 0);
  plan.host("a.host", 64, 0);
  plan.device("b", 64, 0);
  plan.launch("forward", {}, {"a.made"});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "a.made", "a.host");
  plan.wait(variant == Variant::Right ? "compute" : "d2h", plan.record("d2h"));
  plan.launch("next", {}, {"b"});
  return plan.finish();
}

TEST(KnownBugs, WaitPutOnTheStreamThatRecorded) {
  expectOnlyRightAccepted(waitOnTheWrongStream, "P3",
                          {"'a.made'", "'b'", "a.made->a.host", "next"});
}

/// A slot of the pinned pool is written by the next step's offload while this
/// step's reload still reads it.
ScheduleT pinnedSlotOfTheStepBefore(Variant variant) {
  PlanBuilder plan;
  plan.device("a.made", 64, 0);
  plan.host("a.host", 64, 0);
  plan.device("a.back", 64, 64);
  plan.launch("forward", {}, {"a.made"});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "a.made", "a.host");
  uint32_t offloaded = plan.record("d2h");
  plan.wait("h2d", offloaded);
  plan.copy("h2d", "a.host", "a.back");
  uint32_t reloaded = plan.record("h2d");
  plan.wait("compute", offloaded);
  if (variant == Variant::Right) {
    plan.wait("compute", reloaded);
  }
  return plan.finish();
}

TEST(KnownBugs, PinnedSlotOverwrittenWhileTheStepBeforeReads) {
  expectOnlyRightAccepted(pinnedSlotOfTheStepBefore, "P12",
                          {"'a.host'", "a.host->a.back", "next step"});
}

/// A reload is issued inline, without an edge from the event of the offload: it
/// may read the host buffer too early.
ScheduleT reloadWithoutOffloadEvent(Variant variant) {
  PlanBuilder plan;
  plan.device("a.made", 64, 0);
  plan.host("a.host", 64, 0);
  plan.device("a.back", 64, 64);
  plan.device("g", 64, 128);
  plan.launch("forward", {}, {"a.made"});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "a.made", "a.host");
  uint32_t offloaded = plan.record("d2h");
  if (variant == Variant::Right) {
    plan.wait("h2d", offloaded);
  }
  plan.copy("h2d", "a.host", "a.back");
  plan.wait("compute", plan.record("h2d"));
  plan.launch("backward", {"a.back"}, {"g"});
  plan.wait("h2d", plan.record("compute"));
  plan.wait("compute", offloaded);
  return plan.finish();
}

TEST(KnownBugs, ReloadWithoutAnEdgeFromItsOffload) {
  expectOnlyRightAccepted(
      reloadWithoutOffloadEvent, "P7",
      {"a.host->a.back", "a.made->a.host", "nothing orders"});
}

/// A buffer is given back by its stream's order while a copy on another stream
/// still reads it.
ScheduleT freedWhileCopied(Variant variant) {
  PlanBuilder plan;
  plan.device("grad.made", 64, 0);
  plan.host("grad.host", 64, 0);
  plan.device("other", 32, 16);
  plan.launch("backward1", {}, {"grad.made"});
  plan.wait("d2h", plan.record("compute"));
  plan.copy("d2h", "grad.made", "grad.host");
  uint32_t copied = plan.record("d2h");
  if (variant == Variant::Right) {
    plan.wait("compute", copied);
  }
  plan.launch("backward2", {}, {"other"});
  plan.wait("compute", copied);
  return plan.finish();
}

TEST(KnownBugs, BufferFreedOnOneStreamWhileAnotherCopiesIt) {
  expectOnlyRightAccepted(freedWhileCopied, "P3",
                          {"'grad.made'", "'other'", "[16, 48)", "backward2"});
}

/// Write after read: a load fills a freed block that a kernel is still reading.
ScheduleT loadOverABlockInUse(Variant variant) {
  PlanBuilder plan;
  plan.host("x.host", 64, 0);
  plan.input("x.host");
  plan.device("block", 64, 0);
  plan.device("y", 64, 64);
  plan.device("x.device", 64, 0);
  plan.launch("make", {}, {"block"});
  plan.launch("attend", {"block"}, {"y"});
  uint32_t read = plan.record("compute");
  if (variant == Variant::Right) {
    plan.wait("h2d", read);
  }
  plan.copy("h2d", "x.host", "x.device");
  plan.wait("compute", plan.record("h2d"));
  plan.launch("use", {"x.device"}, {});
  return plan.finish();
}

TEST(KnownBugs, LoadOverwritesABlockThatIsStillRead) {
  expectOnlyRightAccepted(
      loadOverABlockInUse, "P3",
      {"'block'", "'x.device'", "attend", "x.host->x.device"});
}

/// A live range that ends where the next one begins does not interfere in time,
/// so both were given ranges that overlap in part: the kernel writes over the
/// half of its operand that it has not read.
ScheduleT touchingLiveRanges(Variant variant) {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.device("b", 64, variant == Variant::Right ? 64 : 32);
  plan.launch("first", {}, {"a"});
  plan.launch("second", {"a"}, {"b"});
  plan.launch("third", {"b"}, {});
  return plan.finish();
}

TEST(KnownBugs, TouchingLiveRangesOverlapInPart) {
  expectOnlyRightAccepted(touchingLiveRanges, "P3",
                          {"'a'", "'b'", "[32, 64)", "second"});
}

/// The same, hidden behind a declaration that the result is computed in place.
ScheduleT shiftedInPlace(Variant variant) {
  PlanBuilder plan;
  plan.device("a", 64, 0);
  plan.device("b", 64, variant == Variant::Right ? 0 : 32);
  plan.launch("first", {}, {"a"});
  plan.launch("second", {"a"}, {"b"}, {{0, 0}});
  return plan.finish();
}

TEST(KnownBugs, InPlaceAtAShiftedOffset) {
  expectOnlyRightAccepted(shiftedInPlace, "P3",
                          {"'a'", "'b'", "second", "same range"});
}

/// Parts of a graph share memory because they follow each other in program
/// order, but are run at the same time.
ScheduleT sharedUnderASequentialAssumption(Variant variant) {
  PlanBuilder plan;
  plan.stream("compute2", StreamKind::Compute);
  plan.device("split1", 64, 0);
  plan.device("split2", 64, 0);
  plan.launch("part1", {}, {"split1"});
  plan.launch("use1", {"split1"}, {});
  uint32_t first = plan.record("compute");
  if (variant == Variant::Right) {
    plan.wait("compute2", first);
  }
  plan.launch("part2", {}, {"split2"}, {}, "", "compute2");
  plan.launch("use2", {"split2"}, {}, {}, "", "compute2");
  plan.wait("compute", plan.record("compute2"));
  return plan.finish();
}

TEST(KnownBugs, MemorySharedInProgramOrderButRunConcurrently) {
  expectOnlyRightAccepted(sharedUnderASequentialAssumption, "P3",
                          {"'split1'", "'split2'", "use1", "part2"});
}

/// A result that nobody reads was given scratch storage although it is tied to
/// an operand, and the scratch lay over a buffer of a concurrent region.
ScheduleT tiedResultInScratch(Variant variant) {
  PlanBuilder plan;
  plan.device("state", 64, 0);
  plan.device("other", 64, 64);
  plan.device("unused", 64, variant == Variant::Right ? 0 : 64);
  plan.launch("make", {}, {"state"});
  plan.launch("make2", {}, {"other"});
  plan.launch("update", {"state"}, {"unused"}, {{0, 0}});
  plan.launch("read", {"other"}, {});
  return plan.finish();
}

TEST(KnownBugs, TiedResultGivenScratchStorage) {
  expectOnlyRightAccepted(tiedResultInScratch, "P3",
                          {"'state'", "'unused'", "update", "same range"});
}

/// The planner's fallback gave the range away but dropped the steps that save
/// and restore the value.
ScheduleT droppedSaveAndRestore(Variant variant) {
  PlanBuilder plan;
  plan.device("a.made", 64, 0);
  plan.host("a.host", 64, 0);
  plan.device("b", 64, 0);
  plan.device("a.back", 64, 0);
  plan.launch("forward", {}, {"a.made"});
  if (variant == Variant::Right) {
    plan.wait("d2h", plan.record("compute"));
    plan.copy("d2h", "a.made", "a.host");
    plan.wait("compute", plan.record("d2h"));
  }
  plan.launch("middle", {}, {"b"});
  if (variant == Variant::Right) {
    plan.wait("h2d", plan.record("compute"));
    plan.copy("h2d", "a.host", "a.back");
    plan.wait("compute", plan.record("h2d"));
  }
  plan.launch("backward", {variant == Variant::Right ? "a.back" : "a.made"},
              {});
  return plan.finish();
}

TEST(KnownBugs, SaveAndRestoreDropped) {
  expectOnlyRightAccepted(droppedSaveAndRestore, "P3",
                          {"'a.made'", "'b'", "backward", "middle"});
  ScheduleT onlySaveDropped = droppedSaveAndRestore(Variant::Right);
  eraseCommand(onlySaveDropped,
               commandIndex(onlySaveDropped, "a.made->a.host"));
  expectRejected(onlySaveDropped, "P4",
                 {"a.host->a.back", "'a.host'", "no command writes"});
}

} // namespace
