#include "tensor/tensor.h"

namespace dragoman {

int64_t Tensor::outer() const {
  int64_t product = 1;
  for (int i = 0; i + 1 < shape_.rank(); ++i) product *= shape_[i];
  return product;
}

Tensor Tensor::columns(int64_t from, int64_t count) const {
  invariant(shape_.rank() == 2 && from >= 0 && from + count <= cols(), "columns outside the matrix");
  Tensor part = *this;
  part.data_ = static_cast<std::byte*>(data_) + from * size_of(dtype_);
  part.shape_ = {shape_[0], count};
  return part;
}

Tensor Tensor::row_range(int64_t from, int64_t count) const {
  Tensor part = *this;
  const bool vector = shape_.rank() == 1;
  invariant(shape_.rank() <= 2 && from >= 0 && from + count <= shape_[0], "rows outside the tensor");
  part.data_ = static_cast<std::byte*>(data_) + from * (vector ? 1 : stride_) * size_of(dtype_);
  part.shape_ = vector ? Shape{count} : Shape{count, shape_[1]};
  if (vector) part.stride_ = count;
  return part;
}

Tensor Tensor::reshaped(Shape shape) const {
  invariant(contiguous() && shape.elements() == elements(), "a reshape keeps the elements");
  return Tensor(owner_, data_, shape, dtype_);
}

}  // namespace dragoman
