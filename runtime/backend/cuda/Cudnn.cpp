//===- Cudnn.cpp - descriptors and graphs ---------------------------------===//

#include "runtime/backend/cuda/Cudnn.h"

#include <algorithm>

namespace vdnn::rt::cuda::cudnn {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

Result<Descriptor> Descriptor::create(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t raw = nullptr;
  VDNN_CUDA(cudnnBackendCreateDescriptor(type, &raw));
  return Descriptor(raw);
}

Descriptor::~Descriptor() {
  if (raw_) {
    cudnnBackendDestroyDescriptor(raw_);
  }
}

Status Descriptor::set(cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, int64_t count,
                       const void *elements) {
  VDNN_CUDA(cudnnBackendSetAttribute(raw_, name, type, count, elements));
  return {};
}

Status Descriptor::set(cudnnBackendAttributeName_t name,
                       const Descriptor &value) {
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
}

Status Descriptor::finalize() {
  VDNN_CUDA(cudnnBackendFinalize(raw_));
  return {};
}

Result<std::vector<Descriptor>>
Descriptor::getDescriptors(cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptorType_t type,
                           int64_t limit) const {
  // cuDNN fills descriptors that the caller creates.
  std::vector<Descriptor> elements;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < limit; ++i) {
    Result<Descriptor> element = create(type);
    VDNN_TRY(element.status());
    raw.push_back(element->get());
    elements.push_back(std::move(*element));
  }
  int64_t count = 0;
  VDNN_CUDA(cudnnBackendGetAttribute(raw_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     limit, &count, raw.data()));
  elements.erase(elements.begin() + std::min(count, limit), elements.end());
  return elements;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Node Graph::add(cudnnBackendDescriptorType_t type,
                std::vector<Attribute> attributes, bool isOperation) {
  entries_.push_back({type, std::move(attributes), isOperation});
  return {static_cast<int64_t>(entries_.size()) - 1};
}

Node Graph::addTensor(cudnnDataType_t type, const std::vector<int64_t> &shape,
                      const std::vector<int64_t> &strides, bool isVirtual) {
  std::vector<int64_t> id = {static_cast<int64_t>(entries_.size())};
  return add(CUDNN_BACKEND_TENSOR_DESCRIPTOR,
             {{CUDNN_ATTR_TENSOR_UNIQUE_ID, id},
              {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type},
              {CUDNN_ATTR_TENSOR_DIMENSIONS, shape},
              {CUDNN_ATTR_TENSOR_STRIDES, strides},
              {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::vector<int64_t>{16}},
              {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, isVirtual}},
             /*isOperation=*/false);
}

Node Graph::addConvolution(const Convolution &shape) {
  std::vector<int64_t> rank = {static_cast<int64_t>(shape.strides.size())};
  return part(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
              {{CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, rank},
               {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                CUDNN_DATA_FLOAT},
               {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                CUDNN_CROSS_CORRELATION},
               {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, shape.strides},
               {CUDNN_ATTR_CONVOLUTION_DILATIONS, shape.dilations},
               {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, shape.padsBegin},
               {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, shape.padsEnd}});
}

void Graph::convolution(const Convolution &shape, Node x, Node w, Node y) {
  Node convolution = addConvolution(shape);
  operation(
      CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
      {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0f},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT,
        0.0f}});
}

void Graph::convolutionBackwardData(const Convolution &shape, Node dy, Node w,
                                    Node dx) {
  Node convolution = addConvolution(shape);
  operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, convolution},
             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy},
             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w},
             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx},
             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT,
              1.0f},
             {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT,
              0.0f}});
}

void Graph::convolutionBackwardFilter(const Convolution &shape, Node x, Node dy,
                                      Node dw) {
  Node convolution = addConvolution(shape);
  operation(
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, convolution},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT,
        1.0f},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT,
        0.0f}});
}

void Graph::pointwise(cudnnPointwiseMode_t mode, Node a, Node b, Node y) {
  Node pointwise =
      part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
           {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode},
            {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
             CUDNN_DATA_FLOAT}});
  operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
            {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise},
             {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, a},
             {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
             {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

void Graph::relu(Node x, Node y) {
  Node relu = part(
      CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
      {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
        CUDNN_POINTWISE_RELU_FWD},
       {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT},
       {CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION,
        CUDNN_PROPAGATE_NAN}});
  operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
            {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, relu},
             {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
             {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

std::string Graph::key() const {
  std::string key;
  auto append = [&](int64_t value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (const Entry &entry : entries_) {
    append(entry.type);
    append(static_cast<int64_t>(entry.attributes.size()));
    for (const Attribute &attribute : entry.attributes) {
      append(attribute.name);
      append(attribute.count);
      key += attribute.bytes;
    }
  }
  return key;
}

} // namespace vdnn::rt::cuda::cudnn
