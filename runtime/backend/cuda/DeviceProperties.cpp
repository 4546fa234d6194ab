//===- DeviceProperties.cpp - the GPU as cuDNN describes it ---------------===//

#include "runtime/backend/cuda/CudaDevice.h"

namespace vdnn::rt::cuda {

static Status readJson(cudnnBackendDescriptor_t descriptor, std::string &json) {
  int device = 0;
  VDNN_CUDA(cudaGetDevice(&device));
  int32_t id = device;
  VDNN_CUDA(cudnnBackendSetAttribute(
      descriptor, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &id));
  VDNN_CUDA(cudnnBackendFinalize(descriptor));
  int64_t bytes = 0;
  VDNN_CUDA(cudnnBackendGetAttribute(descriptor,
                                     CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                     CUDNN_TYPE_CHAR, 0, &bytes, nullptr));
  json.resize(bytes);
  VDNN_CUDA(cudnnBackendGetAttribute(
      descriptor, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
      bytes, &bytes, json.data()));
  while (!json.empty() && json.back() == '\0') {
    json.pop_back();
  }
  return {};
}

Result<std::string> readDeviceProperties() {
  cudnnBackendDescriptor_t descriptor = nullptr;
  VDNN_CUDA(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                         &descriptor));
  std::string json;
  Status status = readJson(descriptor, json);
  cudnnBackendDestroyDescriptor(descriptor);
  VDNN_TRY(status);
  return json;
}

} // namespace vdnn::rt::cuda
