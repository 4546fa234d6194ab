//===- PointwiseSource.cpp ------------------------------------------------===//

#include "runtime/backend/cuda/PointwiseSource.h"

#include "runtime/backend/cuda/PointwiseOperands.h"
#include "runtime/backend/cuda/ScalarCode.h"

#include <algorithm>

namespace vdnn::rt::cuda {

using namespace backend;
using schedule::ElementType;
using schedule::TypeT;

namespace {

class Generator {
public:
  Generator(const schedule::KernelT &kernel, const LaunchTypes &types)
      : kernel_(kernel), reads_(types.reads), writes_(types.writes) {}

  Result<PointwiseSource> generate(int multiprocessors);

private:
  Status checkResults();
  Status writeProgram();
  void chooseWidths(int multiprocessors);

  void writeOffset(size_t read);
  std::string offset(size_t read, const std::string &at) const;
  std::string call(const std::string &operandIndex,
                   const std::string &resultIndex) const;
  void writeLoad(size_t read);
  void writeKernel();
  void line(const std::string &text) { text_ += text + "\n"; }

  std::string index(int64_t number) const {
    return std::to_string(number) + (wide_ ? "ull" : "u");
  }

  const schedule::KernelT &kernel_;
  std::span<const TypeT *const> reads_, writes_;
  std::vector<PointwiseOperand> operands_;
  std::string text_;
  int64_t elements_ = 0;
  int64_t width_ = 1;   ///< elements of a vector
  int64_t vectors_ = 1; ///< vectors per thread
  bool wide_ = false;   ///< 32 bits do not count the elements
  bool callsLibrary_ = false;
};

} // namespace

static std::string number(size_t value) { return std::to_string(value); }

//===----------------------------------------------------------------------===//
// Results and widths
//===----------------------------------------------------------------------===//

Status Generator::checkResults() {
  if (writes_.empty()) {
    return Error{"expected at least one result"};
  }
  if (kernel_.program_results.size() != writes_.size()) {
    return Error{"the program has " + number(kernel_.program_results.size()) +
                 " results, the command " + number(writes_.size())};
  }
  for (const TypeT *write : writes_) {
    VDNN_TRY(expectShape(*write, writes_[0]->shape, "a result"));
    VDNN_TRY(expectLayout(*write, writes_[0]->layout, "a result"));
  }
  elements_ = countElements(writes_[0]->shape);
  // A thread's index may pass the end by a block's work.
  wide_ = elements_ > INT32_MAX;
  return {};
}

/// Vectors of 16 bytes of the largest type. Several per thread keep enough
/// bytes in flight where there is little to load and to compute; not where that
/// would leave multiprocessors idle or registers short.
void Generator::chooseWidths(int multiprocessors) {
  constexpr size_t kLongProgram = 32, kLongestVectorProgram = 64;
  uint64_t largest = 1;
  size_t fullReads = 0;
  auto heed = [&](ElementType element) {
    largest = std::max(largest, schedule::elementBytes(element));
  };
  for (const PointwiseOperand &operand : operands_) {
    if (operand.access == Access::Full) {
      heed(operand.element);
      ++fullReads;
    }
  }
  for (const TypeT *write : writes_) {
    heed(write->element);
  }
  size_t length = kernel_.program.size();
  width_ =
      length > kLongestVectorProgram ? 1 : static_cast<int64_t>(16 / largest);
  vectors_ = fullReads <= 1 ? 4 : fullReads == 2 ? 2 : 1;
  if (callsLibrary_) {
    vectors_ = std::min<int64_t>(vectors_, 2);
  }
  if (length > kLongProgram) {
    vectors_ = 1;
  }
  constexpr int64_t kBlocksPerMultiprocessor = 8;
  auto blocks = [&] {
    return elements_ / (width_ * vectors_ * PointwiseSource::kBlockSize);
  };
  while (vectors_ > 1 &&
         blocks() < kBlocksPerMultiprocessor * multiprocessors) {
    vectors_ /= 2;
  }
  for (PointwiseOperand &operand : operands_) {
    operand.chooseAccess(width_);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The function `element`: elements of the operands in, those of the results
/// out, all as they lie in memory.
Status Generator::writeProgram() {
  std::vector<ElementType> types;
  std::vector<std::string> names;
  std::string parameters, body;
  auto define = [&](ElementType type, const std::string &expression) {
    names.push_back("v" + number(names.size()));
    types.push_back(type);
    body += std::string("  const ") + valueType(type) + " " + names.back() +
            " = " + expression + ";\n";
  };
  for (size_t read = 0; read < operands_.size(); ++read) {
    ElementType element = operands_[read].element;
    std::string name = "m" + number(read);
    parameters +=
        std::string("const ") + memoryType(element) + " " + name + ", ";
    define(scalarElement(element), fromMemory(element, name));
  }
  for (size_t position = 0; position < kernel_.program.size(); ++position) {
    const schedule::ScalarOpT &op = *kernel_.program[position];
    std::vector<ElementType> operandTypes;
    std::vector<std::string> operandNames;
    for (uint32_t operand : op.operands) {
      if (operand >= names.size()) {
        return Error{"instruction " + number(position) + " uses value " +
                     std::to_string(operand) + " before it is computed"};
      }
      operandTypes.push_back(types[operand]);
      operandNames.push_back(names[operand]);
    }
    if (op.code == "constant") {
      Result<std::string> code = constantCode(op.element, op.constant);
      VDNN_TRY(code.status());
      define(op.element, *code);
      continue;
    }
    Result<ScalarCode> code = scalarCode(op, operandTypes, operandNames);
    VDNN_TRY(code.status());
    callsLibrary_ |= code->callsLibrary;
    define(code->result, code->expression);
  }
  for (size_t result = 0; result < writes_.size(); ++result) {
    uint32_t value = kernel_.program_results[result];
    if (value >= names.size()) {
      return Error{"the program's result " + std::to_string(value) +
                   " is no value, there are " + number(names.size())};
    }
    ElementType type = types[value], element = writes_[result]->element;
    if (element != type && scalarElement(element) != type) {
      VDNN_TRY(expectElement(*writes_[result], type,
                             ("result " + number(result)).c_str()));
    }
    std::string name = "o" + number(result);
    parameters +=
        std::string(result ? ", " : "") + memoryType(element) + " &" + name;
    body += "  " + name + " = " + toMemory(element, names[value]) + ";\n";
  }
  line("static __device__ __forceinline__ void element(" + parameters + ") {");
  text_ += body;
  line("}\n");
  return {};
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static constexpr const char *kVectorType = R"(
template <typename T>
struct alignas(sizeof(T) * WIDTH) Vector {
  T at[WIDTH];
};
)";

/// The function that says where in the operand's memory the element for place
/// `i` of the results lies.
void Generator::writeOffset(size_t read) {
  std::string sum;
  int64_t inner = 1;
  const auto &dims = operands_[read].dims;
  for (size_t d = dims.size(); d-- > 0;) {
    std::string at = inner == 1 ? "i" : "i / " + index(inner);
    if (d > 0) {
      at += " % " + index(dims[d].size);
    }
    inner *= dims[d].size;
    if (dims[d].stride != 0) {
      sum += (sum.empty() ? "" : " + ") + at +
             (dims[d].stride == 1 ? "" : " * " + index(dims[d].stride));
    }
  }
  line("static __device__ __forceinline__ Index offset" + number(read) +
       "(Index i) { return " + sum + "; }");
}

std::string Generator::offset(size_t read, const std::string &at) const {
  return "offset" + number(read) + "(" + at + ")";
}

/// Loads what the thread's vectors need of an operand.
void Generator::writeLoad(size_t read) {
  const PointwiseOperand &operand = operands_[read];
  std::string type = memoryType(operand.element), n = number(read);
  switch (operand.access) {
  case Access::Scalar:
    return;
  case Access::Full:
  case Access::Vector: {
    bool full = operand.access == Access::Full;
    line("      x" + n + "[u] = *reinterpret_cast<const Vector<" + type +
         "> *>(r" + n + " + " + (full ? "first" : offset(read, "first")) +
         ");");
    return;
  }
  case Access::Splat:
    line("      x" + n + "[u] = r" + n + "[" + offset(read, "first") + "];");
    return;
  case Access::Gathered:
    line("#pragma unroll");
    line("      for (int k = 0; k < WIDTH; ++k) {");
    line("        x" + n + "[u].at[k] = r" + n + "[" +
         offset(read, "first + k") + "];");
    line("      }");
    return;
  }
}

/// The call of `element` on the vectors' element k, or on the element at `i`.
std::string Generator::call(const std::string &operandIndex,
                            const std::string &resultIndex) const {
  std::string text = "element(";
  bool single = operandIndex == "i";
  for (size_t read = 0; read < operands_.size(); ++read) {
    std::string n = number(read);
    switch (operands_[read].access) {
    case Access::Scalar:
      text += "s" + n;
      break;
    case Access::Full:
      text += single ? "r" + n + "[i]" : "x" + n + operandIndex;
      break;
    case Access::Splat:
      text +=
          single ? "r" + n + "[" + offset(read, "i") + "]" : "x" + n + "[u]";
      break;
    default:
      text += single ? "r" + n + "[" + offset(read, "i") + "]"
                     : "x" + n + operandIndex;
      break;
    }
    text += ", ";
  }
  for (size_t write = 0; write < writes_.size(); ++write) {
    text += (write ? ", y" : "y") + number(write) + resultIndex;
  }
  return text + ");";
}

void Generator::writeKernel() {
  std::string parameters;
  auto typeOfWrite = [&](size_t write) {
    return std::string(memoryType(writes_[write]->element));
  };
  for (size_t read = 0; read < operands_.size(); ++read) {
    parameters += std::string("const ") + memoryType(operands_[read].element) +
                  " *r" + number(read) + ", ";
  }
  for (size_t write = 0; write < writes_.size(); ++write) {
    parameters += typeOfWrite(write) + " *w" + number(write) + ", ";
  }
  line("\nextern \"C\" __global__ void __launch_bounds__(" +
       std::to_string(PointwiseSource::kBlockSize) + ") " +
       PointwiseSource::kName + "(" + parameters + "Index count) {");
  for (size_t read = 0; read < operands_.size(); ++read) {
    std::string type = memoryType(operands_[read].element), n = number(read);
    switch (operands_[read].access) {
    case Access::Scalar:
      line("  const " + type + " s" + n + " = *r" + n + ";");
      break;
    case Access::Splat:
      line("  " + type + " x" + n + "[VECTORS];");
      break;
    default:
      line("  Vector<" + type + "> x" + n + "[VECTORS];");
      break;
    }
  }
  std::string block = index(PointwiseSource::kBlockSize);
  line("  const Index whole = count / WIDTH;");
  line("  const Index begin = blockIdx.x * (" + block +
       " * VECTORS) + threadIdx.x;");
  line("#pragma unroll");
  line("  for (int u = 0; u < VECTORS; ++u) {");
  line("    if (begin + u * " + block + " < whole) {");
  line("      const Index first = (begin + u * " + block + ") * WIDTH;");
  for (size_t read = 0; read < operands_.size(); ++read) {
    writeLoad(read);
  }
  line("    }");
  line("  }");
  line("#pragma unroll");
  line("  for (int u = 0; u < VECTORS; ++u) {");
  line("    if (begin + u * " + block + " < whole) {");
  line("      const Index first = (begin + u * " + block + ") * WIDTH;");
  for (size_t write = 0; write < writes_.size(); ++write) {
    line("      Vector<" + typeOfWrite(write) + "> y" + number(write) + ";");
  }
  line("#pragma unroll");
  line("      for (int k = 0; k < WIDTH; ++k) {");
  line("        " + call("[u].at[k]", ".at[k]"));
  line("      }");
  for (size_t write = 0; write < writes_.size(); ++write) {
    line("      *reinterpret_cast<Vector<" + typeOfWrite(write) + "> *>(w" +
         number(write) + " + first) = y" + number(write) + ";");
  }
  line("    }");
  line("  }");
  if (width_ > 1) {
    line("  const Index i = whole * WIDTH + begin;");
    line("  if (begin < WIDTH && i < count) {");
    for (size_t write = 0; write < writes_.size(); ++write) {
      line("    " + typeOfWrite(write) + " y" + number(write) + ";");
    }
    line("    " + call("i", ""));
    for (size_t write = 0; write < writes_.size(); ++write) {
      line("    w" + number(write) + "[i] = y" + number(write) + ";");
    }
    line("  }");
  }
  line("}");
}

Result<PointwiseSource> Generator::generate(int multiprocessors) {
  VDNN_TRY(checkResults());
  Result<std::vector<PointwiseOperand>> operands =
      readOperands(reads_, *writes_[0]);
  VDNN_TRY(operands.status());
  operands_ = std::move(*operands);
  text_ = kScalarFunctions;
  line("");
  VDNN_TRY(writeProgram());
  chooseWidths(multiprocessors);
  line(std::string("using Index = ") +
       (wide_ ? "unsigned long long" : "unsigned int") + ";");
  line("#define WIDTH " + std::to_string(width_));
  line("#define VECTORS " + std::to_string(vectors_));
  text_ += kVectorType;
  for (size_t read = 0; read < operands_.size(); ++read) {
    Access access = operands_[read].access;
    if (access != Access::Full && access != Access::Scalar) {
      writeOffset(read);
    }
  }
  writeKernel();
  PointwiseSource source;
  source.text = std::move(text_);
  source.elements = elements_;
  source.elementsPerThread = width_ * vectors_;
  source.indexBytes = wide_ ? 8 : 4;
  for (size_t read = 0; read < reads_.size(); ++read) {
    for (size_t write = 0; write < writes_.size(); ++write) {
      if (operands_[read].access == Access::Full &&
          reads_[read]->element == writes_[write]->element) {
        source.inPlace.push_back(
            {static_cast<uint32_t>(read), static_cast<uint32_t>(write)});
      }
    }
  }
  return source;
}

int64_t PointwiseSource::blocks() const {
  int64_t perBlock = elementsPerThread * kBlockSize;
  return (elements + perBlock - 1) / perBlock;
}

Result<PointwiseSource> generatePointwise(const schedule::KernelT &kernel,
                                          const LaunchTypes &types,
                                          int multiprocessors) {
  return Generator(kernel, types).generate(multiprocessors);
}

} // namespace vdnn::rt::cuda
