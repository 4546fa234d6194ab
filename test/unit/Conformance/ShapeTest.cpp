//===- ShapeTest.cpp - kernels that only move elements --------------------===//

#include "Harness.h"

namespace vdnn::rt::conformance {

/// Values 0, 1, 2, ... so that a misplaced element is seen.
static Tensor numbered(schedule::TypeT type) {
  Tensor result{type, {}};
  for (int64_t i = 0; i < count(type.shape); ++i) {
    // Small elements wrap.
    result.values.push_back(static_cast<double>(
        type.element == ElementType::I8 || type.element == ElementType::BF16
            ? i % 100
            : i));
  }
  return result;
}

static const ElementType kElements[] = {ElementType::F32, ElementType::I8,
                                        ElementType::I16, ElementType::I64,
                                        ElementType::BF16};
static const Layout kLayouts[] = {Layout::RowMajor, Layout::ChannelsLast};

TEST(ShapeTest, Reorder) {
  for (const Shape &shape :
       {Shape{2, 3, 4, 5}, Shape{3, 70, 40}, Shape{2, 150, 70},
        Shape{2, 5, 2, 3, 4}, Shape{4, 9}, Shape{2, 6, 1, 1},
        Shape{3, 3, 16, 40}, Shape{5, 2, 4, 36}, Shape{2, 4, 7, 16}}) {
    for (ElementType element : kElements) {
      for (Layout from : kLayouts) {
        for (Layout to : kLayouts) {
          Tensor x = numbered(makeType(shape, from, element));
          Launch launch("reorder");
          expectClose(
              launch.read(x).write(makeType(shape, to, element)).run()[0],
              x.values, 0);
        }
      }
    }
  }
}

TEST(ShapeTest, Transpose) {
  struct Case {
    Shape x;
    std::vector<int64_t> permutation;
  };
  for (const Case &c :
       {Case{{3, 5}, {1, 0}}, Case{{8, 4, 6}, {0, 2, 1}},
        Case{{2, 3, 4, 5}, {3, 1, 0, 2}}, Case{{65, 33, 2}, {1, 0, 2}},
        Case{{4, 5, 6}, {0, 1, 2}}, Case{{2, 1, 7}, {2, 1, 0}},
        Case{{5}, {0}}}) {
    for (Layout layout : kLayouts) {
      Tensor x = numbered(makeType(c.x, layout));
      Shape yShape;
      for (int64_t dim : c.permutation) {
        yShape.push_back(c.x[dim]);
      }
      std::vector<double> y;
      for (int64_t i = 0; i < count(yShape); ++i) {
        std::vector<int64_t> index(c.x.size());
        int64_t rest = i, from = 0;
        for (size_t d = yShape.size(); d-- > 0;) {
          index[c.permutation[d]] = rest % yShape[d];
          rest /= yShape[d];
        }
        for (size_t d = 0; d < index.size(); ++d) {
          from = from * c.x[d] + index[d];
        }
        y.push_back(static_cast<double>(from));
      }
      Launch launch("transpose");
      launch.ints("permutation", c.permutation)
          .read(x)
          .write(makeType(yShape, layout));
      expectClose(launch.run()[0], y, 0);
    }
  }
}

/// Elements [offset, offset + length) along the axis.
static std::vector<double> sliceOf(const Tensor &x, size_t axis, int64_t offset,
                                   int64_t length) {
  std::vector<double> result;
  int64_t inner = 1;
  for (size_t d = axis + 1; d < x.type.shape.size(); ++d) {
    inner *= x.type.shape[d];
  }
  for (size_t i = 0; i < x.values.size(); ++i) {
    int64_t index = static_cast<int64_t>(i) / inner % x.type.shape[axis];
    if (index >= offset && index < offset + length) {
      result.push_back(x.values[i]);
    }
  }
  return result;
}

TEST(ShapeTest, SliceAndConcat) {
  for (const Shape &shape :
       {Shape{4, 9, 3, 5}, Shape{7, 40}, Shape{6}, Shape{5, 8, 6}}) {
    for (ElementType element : kElements) {
      for (Layout layout : kLayouts) {
        for (size_t axis = 0; axis < shape.size(); ++axis) {
          Tensor whole = numbered(makeType(shape, layout, element));
          int64_t sizes[] = {1, shape[axis] / 2,
                             shape[axis] - 1 - shape[axis] / 2},
                  offset = 0;
          Launch concat("concat");
          concat.ints("axis", {static_cast<int64_t>(axis)}).write(whole.type);
          for (int64_t size : sizes) {
            schedule::TypeT part = whole.type;
            part.shape[axis] = size;
            std::vector<double> values = sliceOf(whole, axis, offset, size);
            Launch slice("slice");
            slice.ints("axis", {static_cast<int64_t>(axis)})
                .ints("offset", {offset})
                .read(whole)
                .write(part);
            expectClose(slice.run()[0], values, 0);
            concat.read(tensor(part, values));
            offset += size;
          }
          expectClose(concat.run()[0], whole.values, 0);
        }
      }
    }
  }
}

} // namespace vdnn::rt::conformance
