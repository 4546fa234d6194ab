"""Lit's configuration: every .mlir and .test file below test/, run with the tools of the build first on the path."""

import os

import lit.formats
import lit.util

config.name = "vdnn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.vdnn_build_root, "test", "lit")
# Not lit's: run by ctest or by scripts/test.sh.
config.excludes = ["Inputs", "data", "e2e", "models", "onnx", "tidy", "unit"]

config.environment["PATH"] = os.path.pathsep.join(
    [os.path.join(config.vdnn_build_root, "bin"), config.llvm_tools_dir, os.environ.get("PATH", "")]
)
for name in ("OMP_NUM_THREADS", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# %models: small ONNX files of the project. %source_root, %build_root: for tests over more than their own folder.
config.substitutions.append(("%source_root", config.vdnn_source_root))
config.substitutions.append(("%build_root", config.vdnn_build_root))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))
config.substitutions.append(("%mlir_include", os.path.join(config.llvm_tools_dir, "..", "include")))
config.substitutions.append(("%python", config.python_executable))

for tool in ("vdnn-opt", "vdnn-profile", "vdnn-run"):
    if lit.util.which(tool, config.environment["PATH"]):
        config.available_features.add(tool)
# The CUDA backend, which is asked about a GPU that need not be here.
if os.path.exists(os.path.join(config.vdnn_build_root, "lib", "libvdnn_cuda.so")):
    config.available_features.add("cuda-backend")
