#!/usr/bin/env bash
# From a fresh Debian 12 machine to a trained network: packages, build, demonstration.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/packages.sh
cmake --preset release -Wno-dev > /dev/null
cmake --build --preset release
scripts/demo.sh build
