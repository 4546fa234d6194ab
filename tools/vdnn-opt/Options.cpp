//===- Options.cpp - the command line of vdnn-opt -------------------------===//

#include "Options.h"

#include "vdnn/Pipelines/Pipelines.h"
#include "vdnn/Planning/Policy.h"

#include "llvm/Support/CommandLine.h"

#include <charconv>
#include <cmath>
#include <memory>

using namespace vdnn;
using namespace vdnn::tool;
namespace cl = llvm::cl;

//===--- what there is ----------------------------------------------------===//

/// libLLVM registers options of its code generators in every program that links
/// it; where one has a name of ours, it goes. Must stand before our own.
[[maybe_unused]] static const bool namesAreFree = [] {
  llvm::StringMap<cl::Option *> &registered = cl::getRegisteredOptions();
  for (const char *name :
       {"batch", "bn",      "budget",    "device",  "dim",     "dropout",
        "emit",  "freeze",  "fuse",      "inputs",  "kernels", "list-ops",
        "loss",  "policy",  "precision", "profile", "storage", "summary",
        "sync",  "threads", "unproven"}) {
    if (cl::Option *foreign = registered.lookup(name)) {
      foreign->removeArgument();
    }
  }
  return true;
}();

static cl::OptionCategory modelCategory("1. The model");
static cl::OptionCategory trainingCategory("2. The training step");
static cl::OptionCategory planCategory("3. The plan");
static cl::OptionCategory outputCategory("4. What comes out");

static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("<model.onnx | file.mlir | ->"),
                                  cl::init("-"), cl::cat(outputCategory));
static cl::opt<std::string>
    output("o",
           cl::desc("where it goes: a .mlir or .vdnn file, or - (default)"),
           cl::value_desc("file"), cl::init("-"), cl::cat(outputCategory));
static cl::opt<std::string>
    emit("emit",
         cl::desc("stop after a phase: compute, step, transfers, commands "
                  "(default) or schedule"),
         cl::value_desc("phase"), cl::init(""), cl::cat(outputCategory));
static cl::opt<std::string> summary(
    "summary",
    cl::desc("what is printed on standard error: text (default), json or none"),
    cl::value_desc("form"), cl::init("text"), cl::cat(outputCategory));

static cl::opt<bool>
    listOps("list-ops",
            cl::desc("print the ONNX ops and opsets that are read, and stop"),
            cl::cat(modelCategory));

static cl::opt<bool> unproven(
    "unproven",
    cl::desc("do not prove the plan of a .mlir file; only for text, to "
             "look at what is damaged"),
    cl::init(false), cl::cat(outputCategory));

static cl::opt<int64_t> batch("batch",
                              cl::desc("size of the first dimension of every "
                                       "input, where the model leaves it open"),
                              cl::value_desc("N"), cl::init(0),
                              cl::cat(modelCategory));
static cl::list<std::string>
    dims("dim", cl::desc("size of a symbolic dimension; may be repeated"),
         cl::value_desc("name=N"), cl::cat(modelCategory));
static cl::opt<std::string> batchNorm(
    "bn", cl::desc("BatchNorm of a training step: train (default) or frozen"),
    cl::value_desc("mode"), cl::init("train"), cl::cat(modelCategory));
static cl::opt<std::string>
    dropout("dropout",
            cl::desc("dropout of a training step: on (default) or off"),
            cl::value_desc("mode"), cl::init("on"), cl::cat(modelCategory));

static cl::opt<std::string>
    loss("loss",
         cl::desc("what is minimised: cross_entropy, mse, output (the model's "
                  "own loss), or none (default): inference"),
         cl::value_desc("kind"), cl::init("none"), cl::cat(trainingCategory));
static cl::opt<double> momentum("momentum",
                                cl::desc("momentum of SGD (default 0.9)"),
                                cl::value_desc("x"), cl::init(0.9),
                                cl::cat(trainingCategory));
static cl::opt<double> weightDecay("weight-decay",
                                   cl::desc("weight decay of SGD (default 0)"),
                                   cl::value_desc("x"), cl::init(0),
                                   cl::cat(trainingCategory));
static cl::opt<bool> nesterov("nesterov", cl::desc("Nesterov's momentum"),
                              cl::init(false), cl::cat(trainingCategory));
static cl::list<std::string>
    frozen("freeze",
           cl::desc("a parameter that is not trained; may be repeated"),
           cl::value_desc("name"), cl::cat(trainingCategory));
static cl::opt<std::string>
    storage("storage",
            cl::desc("what pools keep for their gradient: compact (an index) "
                     "or paper (input and output; default for titanx)"),
            cl::value_desc("kind"), cl::init(""), cl::cat(trainingCategory));
static cl::opt<std::string>
    fuse("fuse",
         cl::desc("which ops become one: all (default: batch norm, residual "
                  "addition and ReLU; convolution and ReLU; ReLUs go behind "
                  "max pools; updates of small parameters; without --loss "
                  "convolution and ReLU alone) or none (default for titanx "
                  "and with --storage=paper)"),
         cl::value_desc("kind"), cl::init(""), cl::cat(trainingCategory));

static cl::opt<std::string> device(
    "device",
    cl::desc("cpu (default), cuda (an H200 through cuDNN; needs no GPU), "
             "h200 and titanx (models to simulate), or FILE.json, a "
             "device or a profile"),
    cl::value_desc("name"), cl::init("cpu"), cl::cat(planCategory));
static cl::opt<unsigned>
    threads("threads", cl::desc("threads of the cpu device (default: all)"),
            cl::value_desc("N"), cl::init(0), cl::cat(planCategory));
static cl::opt<std::string>
    precision("precision",
              cl::desc("fp32 (default: IEEE), tf32 (products of f32 on cuda: "
                       "tensor cores, factors of 10 bits) or bf16 (activations "
                       "and products in bf16, parameters in f32; not on cpu)"),
              cl::value_desc("kind"), cl::init("fp32"), cl::cat(planCategory));
static cl::opt<bool> allowNondeterministic(
    "allow-nondeterministic",
    cl::desc("also take kernels whose results differ in the last bits from run "
             "to run (sums by atomic operations); of cuda alone, and of a "
             "profile only where it was made with this option too"),
    cl::init(false), cl::cat(planCategory));
static cl::opt<std::string>
    profile("profile",
            cl::desc("plan from measured times, as vdnn-profile wrote them; "
                     "the same as --device=FILE.json"),
            cl::value_desc("FILE.json"), cl::init(""), cl::cat(planCategory));
static cl::opt<std::string> budget(
    "budget",
    cl::desc("device memory of the whole process, as 6GiB, 800M or 4096"),
    cl::value_desc("bytes"), cl::init(""), cl::cat(planCategory));
static cl::opt<std::string> hostBudget("host-budget",
                                       cl::desc("pinned host memory"),
                                       cl::value_desc("bytes"), cl::init(""),
                                       cl::cat(planCategory));
static cl::opt<std::string> policy("policy", cl::desc(getPolicyHelp()),
                                   cl::value_desc("name"),
                                   cl::init(PlanOptions().policy),
                                   cl::cat(planCategory));
static cl::opt<std::string>
    kernels("kernels",
            cl::desc("performance (default: the fastest) or memory (the "
                     "smallest workspace)"),
            cl::value_desc("kind"), cl::init("performance"),
            cl::cat(planCategory));
static cl::opt<std::string>
    syncMode("sync",
             cl::desc("event (default: wait only where needed) or layer (the "
                      "vDNN paper's barrier)"),
             cl::value_desc("kind"), cl::init("event"), cl::cat(planCategory));

static cl::opt<std::string>
    inputs("inputs",
           cl::desc("when inputs of at least 1 MiB come in: direct (before "
                    "their first use), staged (while the step before runs, "
                    "which takes device memory for all of the step), or auto "
                    "(default: staged where cuda trains, it fits and pays)"),
           cl::value_desc("kind"), cl::init(PlanOptions().inputs),
           cl::cat(planCategory));

static const char *const Overview =
    "vdnn-opt: plans the memory of a network's training step; compiler driver "
    "and mlir-opt in one\n"
    "\n"
    "EXAMPLES\n"
    "  Plan one training step under a budget, and see what was decided:\n"
    "    vdnn-opt resnet50.onnx --batch=32 --loss=cross_entropy --policy=conv "
    "--budget=6GiB -o plan.mlir\n"
    "  Plan inference:\n"
    "    vdnn-opt resnet50.onnx --batch=8 -o plan.mlir\n"
    "  What would this network need on the GPU of the vDNN paper?\n"
    "    vdnn-opt vgg16.onnx --batch=256 --loss=cross_entropy --device=titanx "
    "--policy=all -o vgg16.mlir\n"
    "  Look at the step before anything is planned:\n"
    "    vdnn-opt resnet50.onnx --batch=8 --loss=cross_entropy --emit=step -o "
    "step.mlir\n"
    "  Run passes on it, as with mlir-opt (all are listed by --help-hidden):\n"
    "    vdnn-opt step.mlir --vdnn-print-working-set -o /dev/null\n"
    "    vdnn-opt step.mlir --vdnn-select-kernels "
    "--vdnn-plan-transfers=policy=all\n"
    "  Turn a plan, perhaps edited by hand, into the binary that vdnn-run "
    "reads (and prove it):\n"
    "    vdnn-opt plan.mlir -o plan.vdnn\n"
    "\n"
    "EXIT CODES\n"
    "  0 success, 1 error, 3 the plan does not fit its budget. A file that is "
    "named by -o appears whole or not at all.\n";

//===--- what was given ---------------------------------------------------===//

rt::Result<int64_t> tool::parseBytes(const std::string &text) {
  double number = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  constexpr std::pair<const char *, double> Units[] = {
      {"", 1},
      {"B", 1},
      {"K", 1e3},
      {"KB", 1e3},
      {"M", 1e6},
      {"MB", 1e6},
      {"G", 1e9},
      {"GB", 1e9},
      {"KiB", 1024.},
      {"MiB", 1024. * 1024},
      {"GiB", 1024. * 1024 * 1024}};
  if (code == std::errc() && std::isfinite(number)) {
    for (auto [name, factor] : Units) {
      if (unit == name && number * factor >= 1 && number * factor < 9e18) {
        return static_cast<int64_t>(number * factor);
      }
    }
  }
  return rt::Error{
      "'" + text +
      "' is no number of bytes; expected a number of at least 1 with a unit of "
      "K, M, G (powers of 1000), KiB, MiB, GiB (powers of 1024), or none"};
}

/// Finds `text` among the names.
template <typename T>
static rt::Result<T>
choose(const char *option, const std::string &text,
       const std::vector<std::pair<std::string, T>> &choices) {
  std::string known;
  for (auto &[name, value] : choices) {
    if (text == name) {
      return value;
    }
    known += std::string(known.empty() ? "" : ", ") + "'" + name + "'";
  }
  return rt::Error{std::string("unknown value '") + text + "' of --" + option +
                   ", expected one of " + known};
}

static rt::Status readImport(ImportOptions &options) {
  for (const std::string &dim : dims) {
    size_t equals = dim.find('=');
    int64_t size = 0;
    const char *last = dim.data() + dim.size();
    bool valid = equals != std::string::npos && equals > 0;
    if (valid) {
      auto [end, code] = std::from_chars(dim.data() + equals + 1, last, size);
      valid = code == std::errc() && end == last && size > 0;
    }
    if (!valid) {
      return rt::Error{
          "'--dim " + dim +
          "' is no size of a dimension; expected name=N with N of at least 1"};
    }
    options.dims[dim.substr(0, equals)] = size;
  }
  if (batch.getNumOccurrences() != 0) {
    if (batch < 1) {
      return rt::Error{"'--batch=" + std::to_string(batch) +
                       "' is too small; expected at least 1"};
    }
    options.batch = batch;
  }
  auto mode = choose<BatchNormMode>(
      "bn", batchNorm,
      {{"train", BatchNormMode::Train}, {"frozen", BatchNormMode::Frozen}});
  if (!mode) {
    return mode.error();
  }
  options.batchNorm = *mode;
  auto drop = choose<bool>("dropout", dropout, {{"on", true}, {"off", false}});
  if (!drop) {
    return drop.error();
  }
  options.dropout = *drop;
  return {};
}

static rt::Status readTraining(CompileOptions &options) {
  using Loss = std::optional<LossKind>;
  auto kind = choose<Loss>("loss", loss,
                           {{"none", Loss()},
                            {"cross_entropy", LossKind::CrossEntropy},
                            {"mse", LossKind::MeanSquare},
                            {"output", LossKind::Output}});
  if (!kind) {
    return kind.error();
  }
  std::string stored =
      !storage.empty() ? storage.getValue()
                       : std::string(device == "titanx" ? "paper" : "compact");
  auto keeps = choose<Storage>(
      "storage", stored,
      {{"compact", Storage::Compact}, {"paper", Storage::Paper}});
  if (!keeps) {
    return keeps.error();
  }
  bool paper = *keeps == Storage::Paper;
  std::string fused =
      !fuse.empty() ? fuse.getValue() : std::string(paper ? "none" : "all");
  auto fusion = choose<Fusion>("fuse", fused,
                               {{"all", Fusion::All}, {"none", Fusion::None}});
  if (!fusion) {
    return fusion.error();
  }
  if (*kind && paper && *fusion == Fusion::All) {
    return rt::Error{"'--fuse=all' needs --storage=compact: the paper's "
                     "cuDNN has no fused kernels"};
  }
  options.import.training = kind->has_value();
  if (!*kind) {
    for (const cl::Option *given : std::initializer_list<const cl::Option *>{
             &momentum, &weightDecay, &nesterov, std::addressof(frozen),
             &storage}) {
      if (given->getNumOccurrences() > 0) {
        return rt::Error{"'--" + given->ArgStr.str() +
                         "' is about training, and without --loss there is "
                         "none; add --loss=cross_entropy, mse or output, or "
                         "leave it out"};
      }
    }
    options.fusion = *fusion;
    return {};
  }
  if (!(momentum >= 0 && momentum < 1) || !(weightDecay >= 0) ||
      !std::isfinite(weightDecay)) {
    return rt::Error{
        "expected a --momentum in [0, 1) and a --weight-decay of at least 0"};
  }
  options.training.emplace();
  options.training->loss = **kind;
  options.training->momentum = momentum;
  options.training->weightDecay = weightDecay;
  options.training->nesterov = nesterov;
  options.training->storage = *keeps;
  options.training->fusion = *fusion;
  options.training->frozen.insert(frozen.begin(), frozen.end());
  return {};
}

static rt::Status readPlan(PlanOptions &options) {
  if (!profile.empty() && device.getNumOccurrences() > 0) {
    return rt::Error{"'--profile' names the device: leave '--device' out"};
  }
  options.device = profile.empty() ? device : profile;
  options.threads = threads;
  std::vector<std::pair<std::string, std::string>> policies;
  for (const planning::Policy *known : planning::policies()) {
    policies.emplace_back(known->name(), known->name());
  }
  auto named = choose<std::string>("policy", policy, policies);
  auto rounded = choose<std::string>(
      "precision", precision,
      {{"fp32", "fp32"}, {"tf32", "tf32"}, {"bf16", "bf16"}});
  auto preferred = choose<std::string>(
      "kernels", kernels,
      {{"performance", "performance"}, {"memory", "memory"}});
  auto synced = choose<std::string>("sync", syncMode,
                                    {{"event", "event"}, {"layer", "layer"}});
  auto copied = choose<std::string>(
      "inputs", inputs,
      {{"auto", "auto"}, {"staged", "staged"}, {"direct", "direct"}});
  for (auto *choice : {&named, &rounded, &preferred, &synced, &copied}) {
    if (!*choice) {
      return choice->error();
    }
  }
  options.policy = *named;
  options.precision = *rounded;
  options.allowNondeterministic = allowNondeterministic;
  options.kernels = *preferred;
  options.sync = *synced;
  options.inputs = *copied;
  for (auto [text, bytes] : {std::pair{&budget, &options.budget},
                             std::pair{&hostBudget, &options.hostBudget}}) {
    if (!text->empty()) {
      rt::Result<int64_t> parsed = parseBytes(*text);
      if (!parsed) {
        return parsed.error();
      }
      *bytes = *parsed;
    }
  }
  return {};
}

/// The output's name decides between the text of a plan and its binary, unless
/// --emit does.
static rt::Status readOutput(Options &options) {
  options.input = input;
  options.output = output;
  bool binary = output.size() > 5 && llvm::StringRef(output).ends_with(".vdnn");
  std::string phase = !emit.empty()
                          ? emit.getValue()
                          : std::string(binary ? "schedule" : "commands");
  auto chosen = choose<Emit>("emit", phase,
                             {{"compute", Emit::Compute},
                              {"step", Emit::Step},
                              {"transfers", Emit::Transfers},
                              {"commands", Emit::Commands},
                              {"schedule", Emit::Schedule}});
  if (!chosen) {
    return chosen.error();
  }
  options.compile.emit = *chosen;
  if (binary != (*chosen == Emit::Schedule) && output != "-") {
    return rt::Error{"'" + output + "' does not fit '--emit=" + phase +
                     "'; the schedule goes to a .vdnn file, everything else to "
                     "a .mlir file"};
  }
  auto form = choose<SummaryKind>("summary", summary,
                                  {{"text", SummaryKind::Text},
                                   {"json", SummaryKind::Json},
                                   {"none", SummaryKind::None}});
  if (!form) {
    return form.error();
  }
  options.summary = *form;
  options.listOps = listOps;
  options.unproven = unproven;
  if (unproven && *chosen == Emit::Schedule) {
    return rt::Error{"'--unproven' writes text, and '" + output +
                     "' is a schedule, which is always proven; name a .mlir "
                     "file, or leave '--unproven' out"};
  }
  return {};
}

/// Hides what LLVM itself registers; passes stay behind --help-hidden.
static void hideForeignOptions() {
  cl::HideUnrelatedOptions(
      {&modelCategory, &trainingCategory, &planCategory, &outputCategory});
}

rt::Result<Options> tool::parseCommandLine(int argc, char **argv) {
  hideForeignOptions();
  cl::ParseCommandLineOptions(argc, argv, Overview);
  Options options;
  for (const rt::Status &status :
       {readImport(options.compile.import), readTraining(options.compile),
        readPlan(options.compile.plan), readOutput(options)}) {
    if (!status) {
      return status.error();
    }
  }
  for (auto &[name, option] : cl::getRegisteredOptions()) {
    bool ours =
        llvm::any_of(option->Categories, [](cl::OptionCategory *category) {
          return category == &modelCategory || category == &trainingCategory ||
                 category == &planCategory;
        });
    if ((ours || option == &emit) && option->getNumOccurrences() > 0) {
      options.modelOptions.push_back("--" + name.str());
    }
  }
  llvm::sort(options.modelOptions);
  return options;
}
