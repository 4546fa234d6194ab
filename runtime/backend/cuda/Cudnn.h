//===- Cudnn.h - cuDNN's graphs, engines and plans ------------------------===//
//
// All that the project uses of cuDNN's backend API. A graph is plain data until
// it is asked about: a list of descriptors (tensors, parts, operations) with
// their attributes under cuDNN's own names, so that a fused graph is a longer
// list. Everything but `Plan` works without a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef VDNN_RUNTIME_BACKEND_CUDA_CUDNN_H
#define VDNN_RUNTIME_BACKEND_CUDA_CUDNN_H

#include "runtime/backend/cuda/Kernel.h"

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace vdnn::rt::cuda::cudnn {

/// Owns a descriptor of the backend API.
class Descriptor {
public:
  static Result<Descriptor> create(cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor &&other) noexcept
      : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Descriptor();

  cudnnBackendDescriptor_t get() const { return raw_; }

  Status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
             int64_t count, const void *elements);
  Status set(cudnnBackendAttributeName_t name, const Descriptor &value);
  Status finalize();

  /// All elements of an attribute.
  template <typename T>
  Result<std::vector<T>> get(cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t type) const {
    int64_t count = 0;
    VDNN_CUDA(cudnnBackendGetAttribute(raw_, name, type, 0, &count, nullptr));
    std::vector<T> elements(count);
    if (count > 0) {
      VDNN_CUDA(cudnnBackendGetAttribute(raw_, name, type, count, &count,
                                         elements.data()));
    }
    return elements;
  }

  /// An attribute whose elements, no more than `limit`, are descriptors of this
  /// type.
  Result<std::vector<Descriptor>>
  getDescriptors(cudnnBackendAttributeName_t name,
                 cudnnBackendDescriptorType_t type, int64_t limit) const;

private:
  explicit Descriptor(cudnnBackendDescriptor_t raw) : raw_(raw) {}

  cudnnBackendDescriptor_t raw_;
};

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// A descriptor of a graph, by its position. That of a tensor is also the
/// tensor's unique id.
struct Node {
  int64_t index;
};

/// An attribute with its elements.
struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::string bytes; ///< of the elements; of descriptors: of the `Node`

  template <typename T>
  Attribute(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
            const T &value)
      : Attribute(name, type, 1, &value, sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T>);
  }
  Attribute(cudnnBackendAttributeName_t name,
            const std::vector<int64_t> &values)
      : Attribute(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()),
                  values.data(), values.size() * sizeof(int64_t)) {}
  Attribute(cudnnBackendAttributeName_t name, Node node)
      : Attribute(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &node, sizeof(node)) {
  }

private:
  Attribute(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
            int64_t count, const void *elements, size_t size)
      : name(name), type(type), count(count),
        bytes(static_cast<const char *>(elements), size) {}
};

/// A convolution's attributes, one entry per spatial dimension.
struct Convolution {
  std::vector<int64_t> strides, dilations, padsBegin, padsEnd;
};

/// The description of a graph; operations in topological order.
class Graph {
public:
  /// A tensor that the graph reads or writes, at least 16-byte aligned.
  Node tensor(cudnnDataType_t type, const std::vector<int64_t> &shape,
              const std::vector<int64_t> &strides) {
    return addTensor(type, shape, strides, /*isVirtual=*/false);
  }
  /// One between operations, which nobody stores.
  Node virtualTensor(cudnnDataType_t type, const std::vector<int64_t> &shape,
                     const std::vector<int64_t> &strides) {
    return addTensor(type, shape, strides, /*isVirtual=*/true);
  }
  /// What an operation refers to and is no tensor.
  Node part(cudnnBackendDescriptorType_t type,
            std::vector<Attribute> attributes) {
    return add(type, std::move(attributes), /*isOperation=*/false);
  }
  void operation(cudnnBackendDescriptorType_t type,
                 std::vector<Attribute> attributes) {
    add(type, std::move(attributes), /*isOperation=*/true);
  }

  // All in f32.
  void convolution(const Convolution &shape, Node x, Node w, Node y);
  void convolutionBackwardData(const Convolution &shape, Node dy, Node w,
                               Node dx);
  void convolutionBackwardFilter(const Convolution &shape, Node x, Node dy,
                                 Node dw);
  void pointwise(cudnnPointwiseMode_t mode, Node a, Node b, Node y);
  /// A NaN stays one.
  void relu(Node x, Node y);

  /// Equal for equal graphs alone.
  std::string key() const;

private:
  friend class OperationGraph;

  struct Entry {
    cudnnBackendDescriptorType_t type;
    std::vector<Attribute> attributes;
    bool isOperation;
  };

  Node add(cudnnBackendDescriptorType_t type, std::vector<Attribute> attributes,
           bool isOperation);
  Node addTensor(cudnnDataType_t type, const std::vector<int64_t> &shape,
                 const std::vector<int64_t> &strides, bool isVirtual);
  Node addConvolution(const Convolution &shape);

  std::vector<Entry> entries_;
};

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Which code computes a graph: an engine of this version of cuDNN, and the
/// setting of every knob. As text "cudnn:e12,k2=3,k7=0".
struct EngineChoice {
  int64_t engine = 0;
  std::map<int, int64_t> knobs; ///< cudnnBackendKnobType_t to value

  std::string toString() const;
  static Result<EngineChoice> parse(const std::string &text);
};

/// What cuDNN says of a choice.
struct EngineConfig {
  EngineChoice choice;
  uint64_t workspaceBytes = 0;
  std::vector<cudnnBackendNumericalNote_t> numericalNotes = {};
  std::vector<cudnnBackendBehaviorNote_t> behaviorNotes = {};

  bool has(cudnnBackendNumericalNote_t note) const;
  bool has(cudnnBackendBehaviorNote_t note) const;
};

/// The configurations that cuDNN's heuristics propose for a graph on such a
/// device, in their order; none if there is no engine for it. Costs
/// milliseconds.
Result<std::vector<EngineConfig>> findEngines(const Graph &graph,
                                              const Properties &device,
                                              cudnnBackendHeurMode_t mode);

/// Every engine that cuDNN has for a graph on such a device, by number, with
/// the knobs that it starts with: heuristics keep quiet about some. Costs more.
Result<std::vector<EngineConfig>> listEngines(const Graph &graph,
                                              const Properties &device);

/// The configuration of a choice made earlier; an error if this version of
/// cuDNN does not have it for this graph.
Result<EngineConfig> configureEngine(const Graph &graph,
                                     const Properties &device,
                                     const EngineChoice &choice);

/// A graph ready to run on the GPU.
class Plan {
public:
  static Result<std::shared_ptr<const Plan>>
  build(cudnnHandle_t handle, const Graph &graph, const EngineChoice &choice);

  uint64_t workspaceBytes() const { return workspaceBytes_; }

  /// Queues it; `pointers` belong to the tensors `nodes`.
  Status execute(cudnnHandle_t handle, cudaStream_t stream,
                 const std::vector<Node> &nodes,
                 const std::vector<void *> &pointers, void *workspace) const;

private:
  Plan(Descriptor descriptor, std::vector<Descriptor> parts,
       uint64_t workspaceBytes)
      : parts_(std::move(parts)), descriptor_(std::move(descriptor)),
        workspaceBytes_(workspaceBytes) {}

  /// What the plan is made of: the library does not promise to copy it.
  std::vector<Descriptor> parts_;
  Descriptor descriptor_;
  uint64_t workspaceBytes_;
};

/// The plan of equal graphs and choices, built once per device.
Result<std::shared_ptr<const Plan>>
sharePlan(Context &context, const Graph &graph, const EngineChoice &choice);

} // namespace vdnn::rt::cuda::cudnn

#endif
