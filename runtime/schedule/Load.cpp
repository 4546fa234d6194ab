//===- Load.cpp - reads untrusted schedules -------------------------------===//

#include "runtime/schedule/Schedule.h"
#include "runtime/schedule/SchemaText.h"

#include "flatbuffers/idl.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace vdnn::schedule {

/// A plan of a very large network has some ten megabytes; the format itself
/// ends at two gigabytes.
static constexpr uint64_t kMaxFileBytes = uint64_t(1) << 30;

namespace {

/// Visits what unpacking would visit, for what FlatBuffers' verifier leaves
/// open.
/// Extent: an offset may point to the same vector from many places, and
/// unpacking copies it each time; without a bound on the sum of the encoded
/// bytes a small file could ask for the square of its size.
/// Alignment: the verifier aligns the length of a vector, not its elements,
/// which begin four bytes later.
class Inspection {
public:
  explicit Inspection(uint64_t limit) : limit_(limit) {}

  bool within() const { return bytes_ <= limit_; }
  bool aligned() const { return aligned_; }

  void visit(const flatbuffers::String *text) { add(text ? text->size() : 0); }
  template <typename T>
  void visit(const flatbuffers::Vector<T> *values) {
    addElements<T>(values);
  }
  template <typename T>
  void visit(const flatbuffers::Vector<const T *> *structs) {
    addElements<T>(structs);
  }
  template <typename T>
  void visit(const flatbuffers::Vector<flatbuffers::Offset<T>> *tables) {
    if (!tables) {
      return;
    }
    add(uint64_t(tables->size()) * sizeof(flatbuffers::uoffset_t));
    for (const T *table : *tables) {
      if (!within()) {
        return;
      }
      visit(table);
    }
  }

  void visit(const Type *type) {
    add(kTableBytes);
    if (type) {
      visit(type->shape());
    }
  }
  void visit(const Tensor *tensor) {
    add(kTableBytes);
    visit(tensor->name());
    visit(tensor->type());
    visit(tensor->reason());
  }
  void visit(const Buffer *buffer) {
    add(kTableBytes);
    visit(buffer->name());
  }
  void visit(const Stream *stream) {
    add(kTableBytes);
    visit(stream->name());
  }
  void visit(const ScalarOp *op) {
    add(kTableBytes);
    visit(op->code());
    visit(op->operands());
    visit(op->predicate());
  }
  void visit(const Attribute *attribute) {
    add(kTableBytes);
    visit(attribute->name());
    visit(attribute->ints());
    visit(attribute->text());
  }
  void visit(const Kernel *kernel) {
    add(kTableBytes);
    visit(kernel->kind());
    visit(kernel->algorithm());
    visit(kernel->attributes());
    visit(kernel->program());
    visit(kernel->program_results());
  }
  void visit(const Command *command) {
    add(kTableBytes);
    visit(command->reads());
    visit(command->writes());
    visit(command->in_place());
    visit(command->location());
  }
  void visit(const Schedule *schedule) {
    visit(schedule->tensors());
    visit(schedule->buffers());
    visit(schedule->types());
    visit(schedule->streams());
    visit(schedule->kernels());
    visit(schedule->commands());
  }

private:
  /// The least that a table takes: the offset of its vtable, which many tables
  /// may share.
  static constexpr uint64_t kTableBytes = sizeof(flatbuffers::soffset_t);

  void add(uint64_t bytes) { bytes_ += bytes; }

  /// Elements of type `T`; of an empty vector none is read.
  template <typename T, typename Vector>
  void addElements(const Vector *vector) {
    if (vector && vector->size() > 0) {
      add(uint64_t(vector->size()) * sizeof(T));
      aligned_ &= reinterpret_cast<uintptr_t>(vector->Data()) % alignof(T) == 0;
    }
  }

  uint64_t limit_;
  uint64_t bytes_ = 0;
  bool aligned_ = true;
};

} // namespace

static rt::Result<ScheduleT> parseAligned(const uint8_t *data, size_t size) {
  constexpr size_t kIdentifierEnd =
      sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength;
  if (size < kIdentifierEnd) {
    return rt::Error{"not a schedule: the file has " + std::to_string(size) +
                     " bytes"};
  }
  if (!ScheduleBufferHasIdentifier(data)) {
    return rt::Error{
        "not a schedule: the file does not carry the identifier '" +
        std::string(ScheduleIdentifier()) + "'"};
  }
  if (size > kMaxFileBytes) {
    return rt::Error{"the schedule has " + std::to_string(size) +
                     " bytes, at most " + std::to_string(kMaxFileBytes) +
                     " are accepted"};
  }
  constexpr flatbuffers::uoffset_t kMaxDepth = 8;
  flatbuffers::Verifier verifier(
      data, size, kMaxDepth, static_cast<flatbuffers::uoffset_t>(size / 4 + 1));
  if (!VerifyScheduleBuffer(verifier)) {
    return rt::Error{"the schedule is damaged: it is truncated, or its "
                     "encoding is not valid"};
  }
  const Schedule *root = GetSchedule(data);
  if (root->version() != kVersion) {
    return rt::Error{
        "the schedule has version " + std::to_string(root->version()) +
        ", expected " + std::to_string(kVersion) +
        "; plan again with the compiler that belongs to this runtime"};
  }
  Inspection inspection(2 * static_cast<uint64_t>(size));
  inspection.visit(root);
  if (!inspection.within()) {
    return rt::Error{"the schedule is damaged: its tables share content"};
  }
  if (!inspection.aligned()) {
    return rt::Error{"the schedule is damaged: a list of numbers does not "
                     "begin at a multiple of their size"};
  }
  ScheduleT schedule;
  root->UnPackTo(&schedule);
  if (rt::Status status = validate(schedule); !status) {
    return status.error();
  }
  return schedule;
}

rt::Result<ScheduleT> parse(const uint8_t *data, size_t size) {
  // Numbers are read in place, at natural alignment.
  if (reinterpret_cast<uintptr_t>(data) % alignof(std::max_align_t) == 0) {
    return parseAligned(data, size);
  }
  std::vector<uint8_t> copy(data, data + size);
  return parseAligned(copy.data(), copy.size());
}

rt::Result<ScheduleT> parseJson(const std::string &text) {
  // The parser takes a zero-terminated text.
  if (text.find('\0') != std::string::npos) {
    return rt::Error{"the JSON of a schedule holds a zero byte"};
  }
  flatbuffers::Parser parser;
  if (!parser.Parse(kSchemaText)) {
    return rt::Error{"the embedded schema does not parse: " + parser.error_};
  }
  if (!parser.ParseJson(text.c_str())) {
    std::string message = parser.error_.substr(0, parser.error_.find('\n'));
    return rt::Error{"the JSON of a schedule is not valid: " + message};
  }
  return parse(parser.builder_.GetBufferPointer(), parser.builder_.GetSize());
}

rt::Result<ScheduleT> load(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return rt::Error{"cannot read '" + path +
                     "': " + (error ? error.message() : "not a file")};
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) {
    return rt::Error{"cannot read '" + path + "': " + std::strerror(errno)};
  }
  if (static_cast<uint64_t>(size) > kMaxFileBytes) {
    return rt::Error{"cannot read '" + path + "': it has " +
                     std::to_string(size) + " bytes, at most " +
                     std::to_string(kMaxFileBytes) + " are accepted"};
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(bytes.data()), size)) {
    return rt::Error{"cannot read '" + path + "': it ended early"};
  }
  rt::Result<ScheduleT> schedule = parse(bytes.data(), bytes.size());
  if (!schedule) {
    return rt::Error{"cannot load '" + path + "': " + schedule.message()};
  }
  return schedule;
}

} // namespace vdnn::schedule
