//===- Query.cpp - what the compiler asks ---------------------------------===//

#include "runtime/backend/cpu/Query.h"

#include "runtime/backend/cpu/Dnnl.h"
#include "runtime/backend/cpu/Kernel.h"
#include "runtime/backend/cpu/Parallel.h"

#include <mutex>
#include <unordered_map>

namespace vdnn::rt::cpu {

unsigned resolveThreads(unsigned threads) {
  return threads ? threads
                 : static_cast<unsigned>(std::max(1, omp_get_max_threads()));
}

std::string cpuFingerprint(unsigned threads) {
  return dnnlFingerprint() + "; threads " +
         std::to_string(resolveThreads(threads));
}

namespace {

/// Everything a factory may look at, as bytes.
class KeyWriter {
public:
  template <typename T>
  void add(const T &value) {
    key_.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void add(const std::string &text) {
    add(text.size());
    key_ += text;
  }
  template <typename T>
  void add(const std::vector<T> &values) {
    add(values.size());
    for (const T &value : values) {
      add(value);
    }
  }
  void add(std::span<const schedule::TypeT *const> types) {
    add(types.size());
    for (const schedule::TypeT *type : types) {
      add(type->element);
      add(type->layout);
      add(type->shape);
    }
  }
  std::string take() { return std::move(key_); }

private:
  std::string key_;
};

} // namespace

static std::string makeKey(const schedule::KernelT &kernel,
                           const LaunchTypes &types, unsigned threads) {
  KeyWriter writer;
  writer.add(threads);
  writer.add(kernel.kind);
  for (const std::unique_ptr<schedule::AttributeT> &attribute :
       kernel.attributes) {
    writer.add(attribute->name);
    writer.add(attribute->ints);
    writer.add(attribute->number);
    writer.add(attribute->text);
  }
  writer.add(kernel.program.size());
  for (const std::unique_ptr<schedule::ScalarOpT> &op : kernel.program) {
    writer.add(op->code);
    writer.add(op->operands);
    writer.add(op->constant);
    writer.add(op->predicate);
    writer.add(op->element);
  }
  writer.add(kernel.program_results);
  writer.add(types.reads);
  writer.add(types.writes);
  return writer.take();
}

static Result<std::vector<Candidate>> query(const schedule::KernelT &kernel,
                                            const LaunchTypes &types,
                                            unsigned threads) {
  const TableEntry *entry = nullptr;
  for (const TableEntry &candidate : kernelTable()) {
    entry = kernel.kind == candidate.kind ? &candidate : entry;
  }
  std::vector<const char *> algorithms =
      entry ? entry->algorithms : std::vector<const char *>{};
  if (algorithms.empty()) {
    algorithms = {""};
  }
  schedule::KernelT trial = kernel;
  std::vector<Candidate> candidates;
  Status firstError;
  for (const char *algorithm : algorithms) {
    trial.algorithm = algorithm;
    Result<Kernel> created = createKernel({trial, types, threads});
    if (created) {
      candidates.push_back({algorithm, created->workspaceBytes});
    } else if (firstError.ok()) {
      firstError = created.status();
    }
  }
  if (candidates.empty()) {
    return firstError.error();
  }
  return candidates;
}

Result<std::vector<Candidate>> queryKernel(const schedule::KernelT &kernel,
                                           const LaunchTypes &types,
                                           unsigned threads) {
  static std::mutex mutex;
  static std::unordered_map<std::string, Result<std::vector<Candidate>>> known;
  threads = resolveThreads(threads);
  std::string key = makeKey(kernel, types, threads);
  std::lock_guard lock(mutex);
  auto found = known.find(key);
  if (found == known.end()) {
    ThreadScope scope(threads);
    found = known.emplace(std::move(key), query(kernel, types, threads)).first;
  }
  return found->second;
}

} // namespace vdnn::rt::cpu
