//===- OnnxTest.cpp - vdnn-run --onnx-test: replays ONNX's test data ------===//

#include "OpenSession.h"

#include "runtime/exec/files/OnnxTensor.h"
#include "runtime/support/Format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace vdnn::tool {

namespace fs = std::filesystem;
using rt::format;
using rt::HostTensor;

namespace {

/// Folders `test_data_set_*` of `folder` in order, or `folder` itself where it
/// holds the tensors.
std::vector<fs::path> dataSets(const fs::path &folder) {
  std::vector<fs::path> sets;
  std::error_code code;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, code)) {
    if (entry.is_directory(code) &&
        entry.path().filename().string().starts_with("test_data_set_")) {
      sets.push_back(entry.path());
    }
  }
  std::sort(sets.begin(), sets.end());
  if (sets.empty() && fs::exists(folder / "output_0.pb", code)) {
    sets.push_back(folder);
  }
  return sets;
}

/// `input_0.pb`, `input_1.pb`, ... as far as they go.
rt::Result<std::vector<HostTensor>> readNumbered(const fs::path &folder,
                                                 const std::string &stem) {
  std::vector<HostTensor> tensors;
  std::error_code code;
  for (size_t k = 0;
       fs::exists(folder / (stem + std::to_string(k) + ".pb"), code); ++k) {
    rt::Result<HostTensor> tensor = rt::readOnnxTensor(
        (folder / (stem + std::to_string(k) + ".pb")).string());
    if (!tensor) {
      return tensor.error();
    }
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// The plan's tensor that a file means: the one of the role that has its name,
/// else the one at its place among those of the role. A value inside the
/// network may have an output's name, where the output is a copy of it.
rt::Result<uint32_t> match(const rt::Executor &executor, schedule::Role role,
                           const HostTensor &tensor, size_t position) {
  const auto &tensors = executor.schedule().tensors;
  if (std::optional<uint32_t> index = executor.find(tensor.name);
      index && tensors[*index]->role == role) {
    return *index;
  }
  size_t place = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->role == role && !rt::isReserved(*tensors[i]) &&
        place++ == position) {
      return i;
    }
  }
  return rt::Error{"the plan has no tensor for '" + tensor.name + "', number " +
                   std::to_string(position)};
}

rt::Status setInputs(rt::Executor &executor,
                     const std::vector<HostTensor> &inputs) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    rt::Result<uint32_t> index =
        match(executor, schedule::Role::Input, inputs[k], k);
    if (!index) {
      return index.status();
    }
    if (rt::Status status = executor.write(*index, inputs[k]); !status) {
      return status;
    }
  }
  return {};
}

/// Empty where the values agree.
std::string difference(const HostTensor &got, const HostTensor &expected,
                       const RunOptions &options) {
  if (got.element != expected.element || got.shape != expected.shape) {
    return "is " + rt::formatShape(got.shape) + " of " +
           rt::elementName(got.element) + ", expected " +
           rt::formatShape(expected.shape) + " of " +
           rt::elementName(expected.element);
  }
  uint64_t count = rt::elementCount(got.shape).value_or(0);
  std::vector<double> left = rt::toDoubles(got, 0, count);
  std::vector<double> right = rt::toDoubles(expected, 0, count);
  uint64_t wrong = 0;
  uint64_t worst = 0;
  double worstError = -1;
  for (uint64_t i = 0; i < count; ++i) {
    if (left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) {
      continue;
    }
    double error = std::fabs(left[i] - right[i]);
    if (!(error <= options.absoluteTolerance +
                       options.relativeTolerance * std::fabs(right[i]))) {
      ++wrong;
      // A NaN on one side only is the worst there is.
      if (std::isnan(error) || error > worstError) {
        worst = i;
        worstError = std::isnan(error) ? INFINITY : error;
      }
    }
  }
  return wrong == 0 ? ""
                    : format("%llu of %llu elements differ, the worst is "
                             "element %llu: %.9g, expected %.9g",
                             static_cast<unsigned long long>(wrong),
                             static_cast<unsigned long long>(count),
                             static_cast<unsigned long long>(worst),
                             left[worst], right[worst]);
}

/// Runs one data set; the result is empty where all outputs agree.
rt::Result<std::string> runDataSet(rt::Executor &executor,
                                   const fs::path &folder,
                                   const RunOptions &options) {
  rt::Result<std::vector<HostTensor>> inputs = readNumbered(folder, "input_");
  rt::Result<std::vector<HostTensor>> outputs = readNumbered(folder, "output_");
  if (!inputs || !outputs) {
    return inputs ? outputs.error() : inputs.error();
  }
  if (outputs->empty()) {
    return rt::Error{"'" + folder.string() + "' holds no output_0.pb"};
  }
  if (rt::Status status = setInputs(executor, *inputs); !status) {
    return status.error();
  }
  if (rt::Status status = executor.step(); !status) {
    return status.error();
  }
  for (size_t k = 0; k < outputs->size(); ++k) {
    const HostTensor &expected = (*outputs)[k];
    rt::Result<uint32_t> index =
        match(executor, schedule::Role::Output, expected, k);
    if (!index) {
      return index.error();
    }
    rt::Result<HostTensor> got = executor.read(*index);
    if (!got) {
      return got.error();
    }
    if (std::string text = difference(*got, expected, options); !text.empty()) {
      return "output '" + got->name + "' " + text;
    }
  }
  return std::string();
}

} // namespace

rt::Result<bool> runOnnxTest(const RunOptions &options) {
  std::vector<fs::path> sets = dataSets(options.onnxTest);
  if (sets.empty()) {
    return rt::Error{"'" + options.onnxTest +
                     "' holds no test_data_set_* and no output_0.pb"};
  }
  rt::Result<std::unique_ptr<rt::Session>> session =
      openSession(options.plan, options, options.session);
  if (!session) {
    return session.error();
  }
  bool passed = true;
  for (const fs::path &folder : sets) {
    rt::Result<std::string> result =
        runDataSet((*session)->executor(), folder, options);
    if (!result) {
      return rt::Error{"'" + folder.string() + "': " + result.message()};
    }
    std::printf("%s: %s%s\n", folder.filename().c_str(),
                result->empty() ? "pass" : "fail: ", result->c_str());
    passed &= result->empty();
  }
  return passed;
}

} // namespace vdnn::tool
