//===- ExternalData.cpp - tensors whose bytes lie beside the model --------===//

#include "ExternalData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace vdnn::onnx;

ExternalData::ExternalData(const std::string &modelPath)
    : folder(sys::path::parent_path(modelPath)) {
  if (folder.empty()) {
    folder = ".";
  }
}

/// A number of the key-value pairs, or `absent`; none where it is no number.
static std::optional<uint64_t> toNumber(StringRef text, uint64_t absent) {
  uint64_t value = absent;
  if (!text.empty() && text.getAsInteger(10, value)) {
    return std::nullopt;
  }
  return value;
}

/// Says why a location may not be read, or nothing.
static std::string refuse(StringRef location) {
  if (location.empty()) {
    return "has external data without a 'location'";
  }
  bool up =
      any_of(make_range(sys::path::begin(location), sys::path::end(location)),
             [](StringRef part) { return part == ".."; });
  if (sys::path::is_absolute(location) || up || location.contains('\0') ||
      location.contains('\\')) {
    return "has its external data at '" + location.str() +
           "'; a path below the model's folder is expected";
  }
  return "";
}

ExternalData::Status ExternalData::find(const vdnn_onnx::TensorProto &tensor,
                                        int64_t expected, ArrayRef<char> &bytes,
                                        std::string &error) {
  StringRef location;
  StringRef offsetText;
  StringRef lengthText;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key();
    if (key == "location") {
      location = entry.value();
    } else if (key == "offset") {
      offsetText = entry.value();
    } else if (key == "length") {
      lengthText = entry.value();
    }
  }
  if (error = refuse(location); !error.empty()) {
    return Status::Invalid;
  }
  std::optional<uint64_t> offset = toNumber(offsetText, 0);
  std::optional<uint64_t> length = toNumber(lengthText, uint64_t(expected));
  if (!offset || !length) {
    error = "has external data whose 'offset' or 'length' is no number";
    return Status::Invalid;
  }
  if (*length != uint64_t(expected)) {
    error = "has " + std::to_string(*length) +
            " bytes of external data; its shape and type need " +
            std::to_string(expected);
    return Status::Invalid;
  }
  auto found = files.find(location);
  if (found == files.end()) {
    SmallString<256> path(folder);
    sys::path::append(path, location);
    if (!sys::fs::exists(path)) {
      return Status::Absent;
    }
    // A symbolic link must not lead out of the folder either.
    SmallString<256> realFolder;
    SmallString<256> realPath;
    if (sys::fs::real_path(folder, realFolder) ||
        sys::fs::real_path(path, realPath)) {
      error =
          "has external data '" + location.str() + "' that cannot be resolved";
      return Status::Invalid;
    }
    if (realFolder.back() != '/') {
      realFolder += '/';
    }
    if (!StringRef(realPath).starts_with(realFolder)) {
      error = "has external data '" + location.str() +
              "' that a symbolic link leads out of the model's folder";
      return Status::Invalid;
    }
    if (!sys::fs::is_regular_file(realPath)) {
      error = "has external data '" + location.str() + "' that is no file";
      return Status::Invalid;
    }
    auto buffer = MemoryBuffer::getFile(realPath, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer) {
      error = "has external data '" + location.str() +
              "' that cannot be read: " + buffer.getError().message();
      return Status::Invalid;
    }
    found = files.try_emplace(location, std::move(*buffer)).first;
  }
  uint64_t size = found->second->getBufferSize();
  if (*offset > size || *length > size - *offset) {
    error = "has its external data at bytes " + std::to_string(*offset) +
            " to " + std::to_string(*offset) + "+" + std::to_string(*length) +
            " of '" + location.str() + "', which has " + std::to_string(size);
    return Status::Invalid;
  }
  bytes = {found->second->getBufferStart() + *offset, size_t(*length)};
  return Status::Found;
}
