//===- ProblemText.cpp - problems and solutions as text -------------------===//

#include "vdnn/Planning/ProblemText.h"

#include "TextLine.h"

#include <sstream>

namespace vdnn::planning {
namespace {

// In the order of the enumerators.
constexpr const char *KindNames[] = {"input", "output",   "parameter",
                                     "state", "gradient", "activation"};
constexpr const char *ClassNames[] = {
    "convolution", "pool", "norm",   "activation", "fully-connected",
    "dropout",     "loss", "update", "other"};
constexpr const char *PhaseNames[] = {"forward", "backward", "update"};
constexpr const char *ResidenceNames[] = {"keep", "offload", "recompute"};

std::string quote(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : std::string(1, c);
  }
  return result + '"';
}

/// The shortest text that reads back as the same number.
std::string number(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void writeList(std::ostream &out, const char *name,
               const std::vector<TensorId> &list) {
  if (list.empty()) {
    return;
  }
  out << ' ' << name;
  for (TensorId tensor : list) {
    out << " %" << tensor;
  }
}

void writeOp(std::ostream &out, const Op &op) {
  out << "op " << quote(op.name) << ' ' << ClassNames[size_t(op.opClass)] << ' '
      << PhaseNames[size_t(op.phase)];
  if (op.layer >= 0) {
    out << " layer " << op.layer;
  }
  writeList(out, "reads", op.reads);
  writeList(out, "writes", op.writes);
  for (InPlacePair pair : op.inPlace) {
    out << " in-place %" << pair.from << " %" << pair.to;
  }
  out << '\n';
  for (const KernelChoice &choice : op.choices) {
    out << "  kernel " << quote(choice.algorithm) << " workspace "
        << choice.workspaceBytes << " time " << choice.timeNs
        << (choice.nondeterministic ? " nondeterministic" : "") << '\n';
  }
}

/// Calls `handle` for each line that is not empty until an error.
template <typename Handle>
bool forEachLine(std::string_view text, TextError &error, Handle handle) {
  error = {};
  size_t lineNumber = 0;
  while (!text.empty() && error.message.empty()) {
    size_t length = std::min(text.find('\n'), text.size());
    TextLine line(text.substr(0, length), ++lineNumber, error);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.atEnd()) {
      continue;
    }
    handle(line);
    line.expectEnd();
  }
  return error.message.empty();
}

void parseLink(TextLine &line, Link &link) {
  line.expect("to-host");
  link.deviceToHostBytesPerSecond = line.readNumber<double>();
  line.expect("to-device");
  link.hostToDeviceBytesPerSecond = line.readNumber<double>();
  line.expect("duplex");
  link.duplexFactor = line.readNumber<double>();
  line.expect("latency");
  link.latencyNs = line.readNumber<int64_t>();
}

Tensor parseTensor(TextLine &line) {
  Tensor tensor;
  tensor.name = line.quoted();
  tensor.bytes = line.readNumber<uint64_t>();
  tensor.kind = TensorKind(line.oneOf(KindNames, "a kind of tensor"));
  tensor.liveIn = line.accept("live-in");
  tensor.liveOut = line.accept("live-out");
  tensor.staged = line.accept("staged");
  if (line.accept("tied")) {
    tensor.tiedTo = line.reference('%');
  }
  return tensor;
}

void parseList(TextLine &line, const char *name, std::vector<TensorId> &list) {
  if (line.accept(name)) {
    do {
      list.push_back(line.reference('%'));
    } while (line.atReference('%'));
  }
}

Op parseOp(TextLine &line) {
  Op op;
  op.name = line.quoted();
  op.opClass = OpClass(line.oneOf(ClassNames, "a class of op"));
  op.phase = Phase(line.oneOf(PhaseNames, "a phase"));
  if (line.accept("layer")) {
    op.layer = line.readNumber<int32_t>();
  }
  parseList(line, "reads", op.reads);
  parseList(line, "writes", op.writes);
  while (line.accept("in-place")) {
    InPlacePair pair{};
    pair.from = line.reference('%');
    pair.to = line.reference('%');
    op.inPlace.push_back(pair);
  }
  return op;
}

KernelChoice parseKernel(TextLine &line) {
  KernelChoice choice;
  choice.algorithm = line.quoted();
  line.expect("workspace");
  choice.workspaceBytes = line.readNumber<uint64_t>();
  line.expect("time");
  choice.timeNs = line.readNumber<int64_t>();
  choice.nondeterministic = line.accept("nondeterministic");
  return choice;
}

void parseDecision(TextLine &line, Solution &solution) {
  TensorId tensor = line.reference('%');
  // A number in a text must not decide how much memory is taken.
  if (tensor != solution.tensors.size()) {
    line.fail("expected tensor %" + std::to_string(solution.tensors.size()) +
              ", decisions stand in the order of the tensors");
    return;
  }
  TensorDecision decision;
  decision.residence = Residence(line.oneOf(ResidenceNames, "a residence"));
  decision.reason = line.quoted();
  solution.tensors.push_back(std::move(decision));
}

Transfer parseTransfer(TextLine &line) {
  Transfer transfer;
  transfer.tensor = line.reference('%');
  line.expect("offload");
  transfer.offloadAt = line.reference('@');
  line.expect("release");
  transfer.releaseAt = line.reference('@');
  line.expect("prefetch");
  transfer.prefetchAt = line.reference('@');
  line.expect("needed");
  transfer.neededAt = line.reference('@');
  return transfer;
}

} // namespace

std::string toText(const Problem &problem) {
  std::ostringstream out;
  out << "problem\nalignment " << problem.alignment << '\n';
  if (problem.deviceBudget) {
    out << "budget device " << *problem.deviceBudget << '\n';
  }
  if (problem.hostBudget) {
    out << "budget host " << *problem.hostBudget << '\n';
  }
  const Link &link = problem.link;
  out << "link to-host " << number(link.deviceToHostBytesPerSecond)
      << " to-device " << number(link.hostToDeviceBytesPerSecond) << " duplex "
      << number(link.duplexFactor) << " latency " << link.latencyNs << '\n';
  for (size_t id = 0; id < problem.tensors.size(); ++id) {
    const Tensor &tensor = problem.tensors[id];
    out << "tensor " << quote(tensor.name) << ' ' << tensor.bytes << ' '
        << KindNames[size_t(tensor.kind)] << (tensor.liveIn ? " live-in" : "")
        << (tensor.liveOut ? " live-out" : "")
        << (tensor.staged ? " staged" : "");
    if (tensor.tiedTo) {
      out << " tied %" << *tensor.tiedTo;
    }
    out << " # %" << id << '\n';
  }
  for (const Op &op : problem.ops) {
    writeOp(out, op);
  }
  return out.str();
}

std::string toText(const Solution &solution) {
  std::ostringstream out;
  out << "solution\n";
  if (!solution.choice.empty()) {
    out << "kernels";
    for (uint32_t choice : solution.choice) {
      out << ' ' << choice;
    }
    out << '\n';
  }
  for (size_t id = 0; id < solution.tensors.size(); ++id) {
    const TensorDecision &decision = solution.tensors[id];
    out << "tensor %" << id << ' ' << ResidenceNames[size_t(decision.residence)]
        << ' ' << quote(decision.reason) << '\n';
  }
  for (const Transfer &transfer : solution.transfers) {
    out << "transfer %" << transfer.tensor << " offload @" << transfer.offloadAt
        << " release @" << transfer.releaseAt << " prefetch @"
        << transfer.prefetchAt << " needed @" << transfer.neededAt << '\n';
  }
  for (OpId barrier : solution.barriers) {
    out << "barrier @" << barrier << '\n';
  }
  return out.str();
}

std::optional<Problem> parseProblem(std::string_view text, TextError &error) {
  Problem problem;
  bool begun = false;
  bool complete = forEachLine(text, error, [&](TextLine &line) {
    if (!begun) {
      line.expect("problem");
      begun = true;
    } else if (line.accept("alignment")) {
      problem.alignment = line.readNumber<uint64_t>();
    } else if (line.accept("budget")) {
      bool device = line.accept("device");
      if (!device) {
        line.expect("host");
      }
      (device ? problem.deviceBudget : problem.hostBudget) =
          line.readNumber<uint64_t>();
    } else if (line.accept("link")) {
      parseLink(line, problem.link);
    } else if (line.accept("tensor")) {
      problem.tensors.push_back(parseTensor(line));
    } else if (line.accept("op")) {
      problem.ops.push_back(parseOp(line));
    } else if (line.accept("kernel")) {
      if (problem.ops.empty()) {
        line.fail("kernel without an op before it");
      } else {
        problem.ops.back().choices.push_back(parseKernel(line));
      }
    } else {
      line.fail("expected 'alignment', 'budget', 'link', 'tensor', 'op' or "
                "'kernel'");
    }
  });
  if (complete && !begun) {
    error = {1, 1, "expected 'problem'"};
    complete = false;
  }
  return complete ? std::optional(std::move(problem)) : std::nullopt;
}

std::optional<Solution> parseSolution(std::string_view text, TextError &error) {
  Solution solution;
  bool begun = false;
  bool complete = forEachLine(text, error, [&](TextLine &line) {
    if (!begun) {
      line.expect("solution");
      begun = true;
    } else if (line.accept("kernels")) {
      while (!line.atEnd()) {
        solution.choice.push_back(line.readNumber<uint32_t>());
      }
    } else if (line.accept("tensor")) {
      parseDecision(line, solution);
    } else if (line.accept("transfer")) {
      solution.transfers.push_back(parseTransfer(line));
    } else if (line.accept("barrier")) {
      solution.barriers.push_back(line.reference('@'));
    } else {
      line.fail("expected 'kernels', 'tensor', 'transfer' or 'barrier'");
    }
  });
  if (complete && !begun) {
    error = {1, 1, "expected 'solution'"};
    complete = false;
  }
  return complete ? std::optional(std::move(solution)) : std::nullopt;
}

} // namespace vdnn::planning
