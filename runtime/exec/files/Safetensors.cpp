//===- Safetensors.cpp - https://huggingface.co/docs/safetensors ----------===//

#include "runtime/exec/files/Safetensors.h"

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Format.h"
#include "runtime/support/MappedFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace vdnn::rt {

using nlohmann::json;
using schedule::ElementType;

namespace {

constexpr uint64_t kMaxHeader =
    100 << 20; // the limit of the reference implementation

struct NamedType {
  const char *name;
  ElementType element;
};

constexpr NamedType kTypes[] = {
    {"F32", ElementType::F32},   {"F16", ElementType::F16},
    {"BF16", ElementType::BF16}, {"F64", ElementType::F64},
    {"I64", ElementType::I64},   {"I32", ElementType::I32},
    {"I16", ElementType::I16},   {"I8", ElementType::I8},
    {"U8", ElementType::U8},     {"BOOL", ElementType::Bool},
    {"U16", ElementType::U16},   {"U32", ElementType::U32},
    {"U64", ElementType::U64}};

const char *typeName(ElementType element) {
  return std::find_if(
             std::begin(kTypes), std::end(kTypes),
             [&](const NamedType &type) { return type.element == element; })
      ->name;
}

/// Whether brackets nest no deeper than a header of this format can: the JSON
/// reader takes time and memory for every level.
bool isShallow(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > 4) {
        return false;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

/// One tensor's entry in the header, with nothing taken on trust.
struct Entry {
  std::string type;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

std::optional<Entry> parseEntry(const json &value) {
  if (!value.is_object() || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return std::nullopt;
  }
  const json &type = value["dtype"];
  const json &shape = value["shape"];
  const json &offsets = value["data_offsets"];
  if (!type.is_string() || !shape.is_array() || !offsets.is_array() ||
      offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return std::nullopt;
  }
  Entry entry;
  entry.type = type.get<std::string>();
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  for (const json &dimension : shape) {
    if (!dimension.is_number_unsigned() ||
        dimension.get<uint64_t>() > uint64_t{1} << 62) {
      return std::nullopt;
    }
    entry.shape.push_back(dimension.get<int64_t>());
  }
  return entry;
}

/// The lowest byte that two ranges share, if any.
std::optional<uint64_t>
overlap(std::vector<std::pair<uint64_t, uint64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      return ranges[i].first;
    }
  }
  return std::nullopt;
}

} // namespace

const HostTensor *Safetensors::find(const std::string &name) const {
  auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Result<Safetensors> Safetensors::read(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  return parse(file->bytes(), path, file->owner());
}

Result<Safetensors>
Safetensors::parse(std::span<const std::byte> bytes, const std::string &name,
                   const std::shared_ptr<const void> &owner) {
  auto broken = [&](const std::string &why) {
    return Error{"'" + name + "' is not a sound .safetensors file: " + why};
  };
  if (bytes.size() < 8) {
    return broken("shorter than 8 bytes");
  }
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | std::to_integer<uint64_t>(bytes[i]);
  }
  if (length > bytes.size() - 8 || length > kMaxHeader) {
    return broken(format("header of %llu bytes in a file of %zu bytes",
                         static_cast<unsigned long long>(length),
                         bytes.size()));
  }
  const char *text = reinterpret_cast<const char *>(bytes.data()) + 8;
  json header;
  if (isShallow({text, length})) {
    header =
        json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
  }
  if (!header.is_object()) {
    return broken("its header is not a JSON object");
  }
  std::span<const std::byte> data = bytes.subspan(8 + length);

  Safetensors file;
  file.name_ = name;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto &[key, value] : header.items()) {
    if (key == "__metadata__") {
      if (!value.is_object()) {
        return broken("its metadata is not a JSON object");
      }
      for (const auto &[metaKey, metaValue] : value.items()) {
        if (!metaValue.is_string()) {
          return broken("metadata '" + metaKey + "' is not a text");
        }
        file.metadata_[metaKey] = metaValue.get<std::string>();
      }
      continue;
    }
    std::optional<Entry> entry = parseEntry(value);
    if (!entry || entry->begin > entry->end || entry->end > data.size()) {
      return broken("tensor '" + key +
                    "' has a malformed entry or lies outside the file");
    }
    ranges.emplace_back(entry->begin, entry->end);
    const auto *type = std::find_if(
        std::begin(kTypes), std::end(kTypes),
        [&](const NamedType &type) { return entry->type == type.name; });
    if (type == std::end(kTypes)) {
      file.unsupported_[key] = entry->type;
      continue;
    }
    std::optional<uint64_t> count = elementCount(entry->shape);
    uint64_t size = schedule::elementBytes(type->element);
    if (!count || *count > data.size() / size ||
        *count * size != entry->end - entry->begin) {
      return broken(
          format("tensor '%s' has %llu bytes, which is not what its shape %s "
                 "of %s takes",
                 key.c_str(),
                 static_cast<unsigned long long>(entry->end - entry->begin),
                 formatShape(entry->shape).c_str(), entry->type.c_str()));
    }
    HostTensor tensor;
    tensor.name = key;
    tensor.element = type->element;
    tensor.shape = std::move(entry->shape);
    tensor.data = data.subspan(entry->begin, entry->end - entry->begin);
    tensor.owner = owner;
    file.tensors_[key] = std::move(tensor);
  }
  if (std::optional<uint64_t> byte = overlap(std::move(ranges))) {
    return broken(format("two tensors share byte %llu",
                         static_cast<unsigned long long>(*byte)));
  }
  return file;
}

Status writeSafetensors(const std::string &path,
                        std::span<const HostTensor> tensors,
                        const std::map<std::string, std::string> &metadata) {
  // Wide elements first, so that every tensor is aligned for its type.
  std::vector<const HostTensor *> ordered;
  for (const HostTensor &tensor : tensors) {
    ordered.push_back(&tensor);
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const HostTensor *a, const HostTensor *b) {
              uint64_t left = schedule::elementBytes(a->element);
              uint64_t right = schedule::elementBytes(b->element);
              return left != right ? left > right : a->name < b->name;
            });
  json header = json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  uint64_t offset = 0;
  for (const HostTensor *tensor : ordered) {
    if (header.contains(tensor->name)) {
      return Error{"cannot write '" + path + "': two tensors are named '" +
                   tensor->name + "'"};
    }
    header[tensor->name] = {
        {"dtype", typeName(tensor->element)},
        {"shape", tensor->shape},
        {"data_offsets", {offset, offset + tensor->data.size()}}};
    offset += tensor->data.size();
  }
  std::string text =
      header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(text.size() >> 8 * i & 0xff);
  }
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status status = file->write(length + text); !status) {
    return status;
  }
  for (const HostTensor *tensor : ordered) {
    if (Status status = file->write(tensor->data); !status) {
      return status;
    }
  }
  return file->commit();
}

} // namespace vdnn::rt
