//===- Compare.cpp - vdnn-run --compare: two plans, bit for bit -----------===//

#include "Interrupt.h"
#include "OpenSession.h"
#include "Report.h"

#include "runtime/support/Format.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace vdnn::tool {

using rt::format;
using rt::HostTensor;

namespace {

/// One kind of value: how many were compared, how many differ, and where they
/// first do.
struct Tally {
  const char *what;
  uint64_t tensors = 0;
  uint64_t bytes = 0;
  uint64_t different = 0;
  std::string first;

  void differ(const std::string &where) {
    ++different;
    first = first.empty() ? where : first;
  }
};

/// Where and by how much two tensors of one type with different bytes differ.
std::string describe(const HostTensor &a, const HostTensor &b) {
  uint64_t count = rt::elementCount(a.shape).value_or(0);
  std::vector<double> left = rt::toDoubles(a, 0, count);
  std::vector<double> right = rt::toDoubles(b, 0, count);
  size_t size = schedule::elementBytes(a.element);
  uint64_t differing = 0;
  uint64_t first = 0;
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (std::memcmp(a.data.data() + i * size, b.data.data() + i * size, size) !=
        0) {
      first = differing++ == 0 ? i : first;
      largest = std::max(largest, std::fabs(left[i] - right[i]));
    }
  }
  return format("%llu of %llu elements differ, first element %llu: %.9g and "
                "%.9g, largest difference %.3g",
                static_cast<unsigned long long>(differing),
                static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(first), left[first],
                right[first], largest);
}

void compareLists(Tally &tally, const std::vector<HostTensor> &a,
                  const std::vector<HostTensor> &b, const std::string &when) {
  std::map<std::string, const HostTensor *> others;
  for (const HostTensor &tensor : b) {
    others[tensor.name] = &tensor;
  }
  for (const HostTensor &tensor : a) {
    std::string where = when + "'" + tensor.name + "': ";
    ++tally.tensors;
    tally.bytes += tensor.data.size();
    auto found = others.find(tensor.name);
    if (found == others.end()) {
      tally.differ(where + "only in the first plan");
      continue;
    }
    const HostTensor &other = *found->second;
    others.erase(found);
    if (other.element != tensor.element || other.shape != tensor.shape) {
      tally.differ(where + "shapes or element types differ");
    } else if (!tensor.data.empty() &&
               std::memcmp(tensor.data.data(), other.data.data(),
                           tensor.data.size()) != 0) {
      tally.differ(where + describe(tensor, other));
    }
  }
  for (const auto &[name, tensor] : others) {
    ++tally.tensors;
    tally.differ(when + "'" + name + "': only in the second plan");
  }
}

rt::Result<std::vector<HostTensor>> readOutputs(rt::Session &session) {
  std::vector<HostTensor> values;
  const schedule::ScheduleT &schedule = session.executor().schedule();
  for (uint32_t i = 0; i < schedule.tensors.size(); ++i) {
    if (schedule.tensors[i]->role == schedule::Role::Output &&
        schedule.tensors[i]->exit >= 0) {
      rt::Result<HostTensor> value = session.executor().read(i);
      if (!value) {
        return value.error();
      }
      values.push_back(std::move(*value));
    }
  }
  return values;
}

class Comparison {
public:
  Comparison(rt::Session &a, rt::Session &b) : a_(a), b_(b) {}

  rt::Status step() {
    std::string when = "step " + std::to_string(a_.nextStep() + 1) + ": ";
    for (rt::Session *session : {&a_, &b_}) {
      if (rt::Status status = session->step(); !status) {
        return status;
      }
    }
    rt::Result<std::vector<HostTensor>> left = readOutputs(a_);
    rt::Result<std::vector<HostTensor>> right = readOutputs(b_);
    if (!left || !right) {
      return left ? right.status() : left.status();
    }
    compareLists(outputs_, *left, *right, when + "output ");
    compareLists(gradients_, a_.gradients(), b_.gradients(),
                 when + "gradient ");
    return {};
  }

  rt::Status finish() {
    rt::Result<std::vector<HostTensor>> left = a_.persistent();
    rt::Result<std::vector<HostTensor>> right = b_.persistent();
    if (!left || !right) {
      return left ? right.status() : left.status();
    }
    compareLists(weights_, *left, *right, "at the end: ");
    return {};
  }

  bool identical() const {
    return outputs_.different + gradients_.different + weights_.different == 0;
  }

  void print() const {
    std::printf("%-20s %10s %14s %10s\n", "", "tensors", "bytes", "different");
    for (const Tally *tally : {&outputs_, &gradients_, &weights_}) {
      std::printf("%-20s %10llu %14llu %10llu\n", tally->what,
                  static_cast<unsigned long long>(tally->tensors),
                  static_cast<unsigned long long>(tally->bytes),
                  static_cast<unsigned long long>(tally->different));
    }
    for (const Tally *tally : {&outputs_, &gradients_, &weights_}) {
      if (tally->different > 0) {
        std::printf("%s\n", tally->first.c_str());
      }
    }
  }

private:
  rt::Session &a_;
  rt::Session &b_;
  Tally outputs_{"losses and outputs", 0, 0, 0, ""};
  Tally gradients_{"gradients", 0, 0, 0, ""};
  Tally weights_{"weights and states", 0, 0, 0, ""};
};

void printPlan(const char *label, const std::string &path,
               const schedule::ScheduleT &schedule) {
  PlanFacts facts = factsOf(schedule);
  std::printf(
      "%s %s: policy %s, device arena %s, host arena %s, copies %s per step\n",
      label, path.c_str(),
      schedule.summary && !schedule.summary->policy.empty()
          ? schedule.summary->policy.c_str()
          : "unknown",
      rt::formatBytes(schedule.device_arena).c_str(),
      rt::formatBytes(schedule.host_arena).c_str(),
      rt::formatBytes(facts.bytesToHost + facts.bytesToDevice).c_str());
}

uint64_t stepCount(const RunOptions &options, const rt::Session &session) {
  if (options.steps) {
    return *options.steps;
  }
  return options.epochs
             ? *options.epochs * session.feed().stepsPerPass()
             : std::min<uint64_t>(
                   10, std::max<uint64_t>(session.feed().stepsPerPass(), 3));
}

} // namespace

rt::Result<bool> comparePlans(const RunOptions &options) {
  rt::SessionOptions sessionOptions = options.session;
  sessionOptions.captureGradients = true;
  rt::Result<std::unique_ptr<rt::Session>> a =
      openSession(options.plan, options, sessionOptions);
  if (!a) {
    return a.error();
  }
  rt::Result<std::unique_ptr<rt::Session>> b =
      openSession(options.compare, options, sessionOptions);
  if (!b) {
    return b.error();
  }
  if (!(*a)->executor().device().computes()) {
    return rt::Error{"a simulated device computes nothing that could be "
                     "compared: give --device"};
  }
  if ((*a)->feed().batch() != (*b)->feed().batch()) {
    return rt::Error{format(
        "the plans take batches of %llu and %llu samples, expected the same",
        static_cast<unsigned long long>((*a)->feed().batch()),
        static_cast<unsigned long long>((*b)->feed().batch()))};
  }
  for (auto [path, session] :
       {std::pair{&options.plan, a->get()}, {&options.compare, b->get()}}) {
    if (size_t count =
            schedule::countNondeterministic(session->executor().schedule())) {
      return rt::Error{format("'%s' has %zu nondeterministic kernels: its "
                              "results differ in the last bits from run to "
                              "run, whatever the plan; compare plans that are "
                              "made without --allow-nondeterministic",
                              path->c_str(), count)};
    }
  }
  printPlan("A", options.plan, (*a)->executor().schedule());
  printPlan("B", options.compare, (*b)->executor().schedule());
  uint64_t total = stepCount(options, **a);
  (*a)->setTotalSteps(total);
  (*b)->setTotalSteps(total);
  Comparison comparison(**a, **b);
  catchInterrupts();
  while ((*a)->nextStep() < total && !interrupted()) {
    if (rt::Status status = comparison.step(); !status) {
      return status.error();
    }
    std::optional<double> left = (*a)->loss();
    std::optional<double> right = (*b)->loss();
    if (left && right) {
      std::printf("step %llu loss %.9g and %.9g\n",
                  static_cast<unsigned long long>((*a)->nextStep()), *left,
                  *right);
    }
  }
  if (rt::Status status = comparison.finish(); !status) {
    return status.error();
  }
  comparison.print();
  std::printf("%s after %llu steps\n",
              comparison.identical() ? "identical" : "different",
              static_cast<unsigned long long>((*a)->nextStep()));
  return comparison.identical();
}

} // namespace vdnn::tool
