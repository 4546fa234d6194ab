//===- Proto.h - ONNX's messages, without the warnings of generated code --===//

#ifndef VDNN_LIB_IMPORT_ONNX_PROTO_H
#define VDNN_LIB_IMPORT_ONNX_PROTO_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "onnx.pb.h"
#pragma GCC diagnostic pop

#endif
