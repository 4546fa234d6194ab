#!/usr/bin/env bash
# Installs what vDNN needs on Debian 12, by package name. Skips the network when everything is there.
set -euo pipefail

build=(build-essential cmake ninja-build git ccache mold unzip python3-pip
  libmlir-19-dev mlir-19-tools llvm-19-dev llvm-19-tools libzstd-dev
  libdnnl-dev ocl-icd-opencl-dev libprotobuf-dev protobuf-compiler
  libflatbuffers-dev flatbuffers-compiler nlohmann-json3-dev libcli11-dev)
tests=(libgtest-dev libbenchmark-dev clang-format-19 clang-tidy-19 clang-19 libclang-rt-19-dev libonnx-testdata python3-onnx
  python3-numpy python3-torch python3-torchvision python3-sklearn libopenblas0-openmp)

missing=()
for package in "${build[@]}" "${tests[@]}"; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${#missing[@]} packages: ${missing[*]}"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi
