//===- CudnnEngines.cpp - engines and plans of graphs ---------------------===//

#include "runtime/backend/cuda/Cudnn.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace vdnn::rt::cuda::cudnn {

/// A graph as cuDNN holds it.
class OperationGraph {
public:
  /// `handle`: of the device that the graph will run on; null where it is only
  /// asked about.
  static Result<OperationGraph> create(const Graph &graph,
                                       cudnnHandle_t handle = nullptr);

  const Descriptor &descriptor() const { return nodes_.back(); }
  std::vector<Descriptor> release() { return std::move(nodes_); }

private:
  /// Those of the description, then the graph itself.
  std::vector<Descriptor> nodes_;
};

Result<OperationGraph> OperationGraph::create(const Graph &graph,
                                              cudnnHandle_t handle) {
  OperationGraph result;
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const Graph::Entry &entry : graph.entries_) {
    Result<Descriptor> node = Descriptor::create(entry.type);
    VDNN_TRY(node.status());
    for (const Attribute &attribute : entry.attributes) {
      if (attribute.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        Node other;
        std::memcpy(&other, attribute.bytes.data(), sizeof(other));
        VDNN_TRY(node->set(attribute.name, result.nodes_[other.index]));
      } else {
        VDNN_TRY(node->set(attribute.name, attribute.type, attribute.count,
                           attribute.bytes.data()));
      }
    }
    VDNN_TRY(node->finalize());
    if (entry.isOperation) {
      operations.push_back(node->get());
    }
    result.nodes_.push_back(std::move(*node));
  }
  Result<Descriptor> node =
      Descriptor::create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  VDNN_TRY(node.status());
  VDNN_TRY(
      node->set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                static_cast<int64_t>(operations.size()), operations.data()));
  if (handle) {
    VDNN_TRY(node->set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
                       &handle));
  }
  VDNN_TRY(node->finalize());
  result.nodes_.push_back(std::move(*node));
  return result;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

std::string EngineChoice::toString() const {
  std::string text = "cudnn:e" + std::to_string(engine);
  for (auto [knob, value] : knobs) {
    text += ",k" + std::to_string(knob) + "=" + std::to_string(value);
  }
  return text;
}

/// Takes `prefix` and a number from the front of `text`.
template <typename T>
static bool takeNumber(std::string_view &text, std::string_view prefix,
                       T &number) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  const char *begin = text.data() + prefix.size(),
             *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(begin, end, number);
  text = std::string_view(rest, end);
  return error == std::errc();
}

Result<EngineChoice> EngineChoice::parse(const std::string &text) {
  EngineChoice choice;
  std::string_view rest = text;
  bool ok = takeNumber(rest, "cudnn:e", choice.engine) && choice.engine >= 0;
  while (ok && !rest.empty()) {
    int knob = 0;
    int64_t value = 0;
    ok = takeNumber(rest, ",k", knob) && knob >= 0 &&
         takeNumber(rest, "=", value) &&
         choice.knobs.emplace(knob, value).second;
  }
  // One text per choice: plans are compared by it.
  if (!ok || choice.toString() != text) {
    return Error{"unknown algorithm '" + text +
                 "'; expected one like 'cudnn:e12,k2=3,k7=0', an engine of "
                 "cuDNN and its knobs in increasing order"};
  }
  return choice;
}

template <typename T>
static bool contains(const std::vector<T> &list, T element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

bool EngineConfig::has(cudnnBackendNumericalNote_t note) const {
  return contains(numericalNotes, note);
}

bool EngineConfig::has(cudnnBackendBehaviorNote_t note) const {
  return contains(behaviorNotes, note);
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

static Result<Descriptor> describeDevice(const Properties &device) {
  Result<Descriptor> result =
      Descriptor::create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  VDNN_TRY(result.status());
  VDNN_TRY(result->set(
      CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
      static_cast<int64_t>(device.json.size()), device.json.data()));
  VDNN_TRY(result->finalize());
  return result;
}

static Result<int64_t> getNumber(const Descriptor &descriptor,
                                 cudnnBackendAttributeName_t name) {
  int64_t value = 0, count = 0;
  VDNN_CUDA(cudnnBackendGetAttribute(descriptor.get(), name, CUDNN_TYPE_INT64,
                                     1, &count, &value));
  return value;
}

/// What a finalized engine configuration says of itself, but the choice.
static Result<EngineConfig> readConfig(const Descriptor &config,
                                       const Descriptor &engine) {
  EngineConfig result;
  Result<int64_t> bytes =
      getNumber(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
  VDNN_TRY(bytes.status());
  result.workspaceBytes = static_cast<uint64_t>(*bytes);
  auto numerical = engine.get<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  VDNN_TRY(numerical.status());
  result.numericalNotes = std::move(*numerical);
  auto behavior = engine.get<cudnnBackendBehaviorNote_t>(
      CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  VDNN_TRY(behavior.status());
  result.behaviorNotes = std::move(*behavior);
  return result;
}

static Result<EngineChoice> readChoice(const Descriptor &config,
                                       const Descriptor &engine) {
  EngineChoice choice;
  Result<int64_t> index = getNumber(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  VDNN_TRY(index.status());
  choice.engine = *index;
  auto knobs = config.getDescriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                     CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                     CUDNN_KNOB_TYPE_COUNTS);
  VDNN_TRY(knobs.status());
  for (const Descriptor &knob : *knobs) {
    auto type = knob.get<cudnnBackendKnobType_t>(
        CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    VDNN_TRY(type.status());
    Result<int64_t> value = getNumber(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    VDNN_TRY(value.status());
    if (type->size() != 1) {
      return Error{"cuDNN describes a knob without a type"};
    }
    choice.knobs[type->front()] = *value;
  }
  return choice;
}

Result<std::vector<EngineConfig>> findEngines(const Graph &graph,
                                              const Properties &device,
                                              cudnnBackendHeurMode_t mode) {
  Result<OperationGraph> operations = OperationGraph::create(graph);
  VDNN_TRY(operations.status());
  Result<Descriptor> properties = describeDevice(device);
  VDNN_TRY(properties.status());
  Result<Descriptor> heuristics =
      Descriptor::create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  VDNN_TRY(heuristics.status());
  VDNN_TRY(heuristics->set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                           operations->descriptor()));
  VDNN_TRY(heuristics->set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
                           &mode));
  VDNN_TRY(heuristics->set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties));
  std::vector<EngineConfig> result;
  if (!heuristics->finalize()) {
    return result;
  }
  int64_t count = 0;
  VDNN_CUDA(cudnnBackendGetAttribute(
      heuristics->get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
  auto configs = heuristics->getDescriptors(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
  VDNN_TRY(configs.status());
  for (const Descriptor &config : *configs) {
    auto engine = config.getDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE,
                                        CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    VDNN_TRY(engine.status());
    if (engine->size() != 1) {
      return Error{"cuDNN proposes a configuration without an engine"};
    }
    Result<EngineConfig> read = readConfig(config, engine->front());
    if (!read) {
      continue; // Proposed, but not supported for these shapes.
    }
    Result<EngineChoice> choice = readChoice(config, engine->front());
    VDNN_TRY(choice.status());
    read->choice = std::move(*choice);
    result.push_back(std::move(*read));
  }
  return result;
}

namespace {

/// An engine with its knobs set.
struct Configured {
  Descriptor engine, config;
};

} // namespace

/// `properties`: of a device that is not here; null for the one that is.
static Result<Configured> configure(const OperationGraph &graph,
                                    const EngineChoice &choice,
                                    const Descriptor *properties) {
  Result<Descriptor> engine =
      Descriptor::create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  VDNN_TRY(engine.status());
  VDNN_TRY(engine->set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.descriptor()));
  VDNN_TRY(engine->set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                       &choice.engine));
  if (properties) {
    VDNN_TRY(engine->set(CUDNN_ATTR_ENGINE_DEVICEPROP, *properties));
  }
  VDNN_TRY(engine->finalize());

  Result<Descriptor> config =
      Descriptor::create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  VDNN_TRY(config.status());
  VDNN_TRY(config->set(CUDNN_ATTR_ENGINECFG_ENGINE, *engine));
  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (auto [number, value] : choice.knobs) {
    Result<Descriptor> knob =
        Descriptor::create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    VDNN_TRY(knob.status());
    auto type = static_cast<cudnnBackendKnobType_t>(number);
    VDNN_TRY(knob->set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                       1, &type));
    VDNN_TRY(knob->set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                       &value));
    VDNN_TRY(knob->finalize());
    raw.push_back(knob->get());
    knobs.push_back(std::move(*knob));
  }
  if (!raw.empty()) {
    VDNN_TRY(config->set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                         CUDNN_TYPE_BACKEND_DESCRIPTOR,
                         static_cast<int64_t>(raw.size()), raw.data()));
  }
  VDNN_TRY(config->finalize());
  return Configured{std::move(*engine), std::move(*config)};
}

Result<std::vector<EngineConfig>> listEngines(const Graph &graph,
                                              const Properties &device) {
  Result<OperationGraph> operations = OperationGraph::create(graph);
  VDNN_TRY(operations.status());
  Result<Descriptor> properties = describeDevice(device);
  VDNN_TRY(properties.status());
  Result<int64_t> count = getNumber(
      operations->descriptor(), CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  VDNN_TRY(count.status());
  std::vector<EngineConfig> result;
  for (int64_t engine = 0; engine < *count; ++engine) {
    EngineChoice choice{engine, {}};
    Result<Configured> configured =
        configure(*operations, choice, &*properties);
    if (!configured) {
      continue;
    }
    Result<EngineConfig> read =
        readConfig(configured->config, configured->engine);
    if (read) {
      read->choice = choice;
      result.push_back(std::move(*read));
    }
  }
  return result;
}

Result<EngineConfig> configureEngine(const Graph &graph,
                                     const Properties &device,
                                     const EngineChoice &choice) {
  Result<OperationGraph> operations = OperationGraph::create(graph);
  VDNN_TRY(operations.status());
  Result<Descriptor> properties = describeDevice(device);
  VDNN_TRY(properties.status());
  Result<Configured> configured = configure(*operations, choice, &*properties);
  Result<EngineConfig> result =
      configured ? readConfig(configured->config, configured->engine)
                 : Result<EngineConfig>(configured.error());
  if (!result) {
    return Error{"this version of cuDNN does not compute these shapes with "
                 "algorithm '" +
                 choice.toString() + "' (" + result.message() +
                 "); plan again"};
  }
  result->choice = choice;
  return result;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<const Plan>> Plan::build(cudnnHandle_t handle,
                                                const Graph &graph,
                                                const EngineChoice &choice) {
  Result<OperationGraph> operations = OperationGraph::create(graph, handle);
  VDNN_TRY(operations.status());
  Result<Configured> configured = configure(*operations, choice, nullptr);
  VDNN_TRY(configured.status());
  Result<Descriptor> descriptor =
      Descriptor::create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  VDNN_TRY(descriptor.status());
  VDNN_TRY(descriptor->set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
                           1, &handle));
  VDNN_TRY(descriptor->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                           configured->config));
  VDNN_TRY(descriptor->finalize());
  Result<int64_t> bytes =
      getNumber(*descriptor, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  VDNN_TRY(bytes.status());
  std::vector<Descriptor> parts = operations->release();
  parts.push_back(std::move(configured->engine));
  parts.push_back(std::move(configured->config));
  return std::shared_ptr<const Plan>(new Plan(
      std::move(*descriptor), std::move(parts), static_cast<uint64_t>(*bytes)));
}

Status Plan::execute(cudnnHandle_t handle, cudaStream_t stream,
                     const std::vector<Node> &nodes,
                     const std::vector<void *> &pointers,
                     void *workspace) const {
  Result<Descriptor> pack =
      Descriptor::create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  VDNN_TRY(pack.status());
  static_assert(sizeof(Node) == sizeof(int64_t));
  VDNN_TRY(pack->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                     static_cast<int64_t>(nodes.size()), nodes.data()));
  VDNN_TRY(pack->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                     static_cast<int64_t>(pointers.size()), pointers.data()));
  VDNN_TRY(pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                     &workspace));
  VDNN_TRY(pack->finalize());
  VDNN_CUDA(cudnnSetStream(handle, stream));
  VDNN_CUDA(cudnnBackendExecute(handle, descriptor_.get(), pack->get()));
  return {};
}

Result<std::shared_ptr<const Plan>>
sharePlan(Context &context, const Graph &graph, const EngineChoice &choice) {
  std::string key = choice.toString() + ";" + graph.key();
  auto found = context.plans.find(key);
  if (found != context.plans.end()) {
    return found->second;
  }
  auto plan = Plan::build(context.cudnn, graph, choice);
  VDNN_TRY(plan.status());
  return context.plans.emplace(std::move(key), std::move(*plan)).first->second;
}

} // namespace vdnn::rt::cuda::cudnn
