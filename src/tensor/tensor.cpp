#include "tensor/tensor.h"

#include <cstring>

namespace dragoman {

int64_t Tensor::outer() const {
  int64_t product = 1;
  for (int i = 0; i + 1 < shape_.rank(); ++i) product *= shape_[i];
  return product;
}

int64_t Tensor::spanned_bytes() const {
  return elements() == 0 ? 0 : ((rows() - 1) * stride_ + cols()) * size_of(dtype_);
}

Tensor Tensor::on_host() const {
  if (!memory_) return *this;
  const Tensor copy = room_on_host();
  memory_->download(copy.data_, data_, spanned_bytes());
  return copy;
}

std::function<Tensor()> Tensor::fetch() const {
  if (!memory_) return [same = *this] { return same; };
  return [copy = room_on_host(), pending = memory_->send(data_, spanned_bytes())] {
    pending(copy.data_);
    return copy;
  };
}

Tensor Tensor::room_on_host() const {
  if (!memory_) return *this;
  std::shared_ptr<void> owner(new std::byte[size_t(spanned_bytes())],
                              [](void* p) { delete[] static_cast<std::byte*>(p); });
  Tensor copy = *this;
  copy.data_ = owner.get();
  copy.owner_ = std::move(owner);
  copy.memory_ = nullptr;
  return copy;
}

void Tensor::assign(const Tensor& values) const {
  invariant(!values.memory_ && values.shape_ == shape_ && values.dtype_ == dtype_ && values.stride_ == stride_,
            "assign takes host values of the same shape and type");
  if (values.data_ == data_) return;
  if (memory_) return memory_->upload(data_, values.data_, spanned_bytes());
  std::memcpy(data_, values.data_, size_t(spanned_bytes()));
}

PendingNumber Tensor::send() const {
  invariant(elements() == 1, "send takes a tensor of one number");
  const double* number = as<double>();
  if (!memory_) return [value = *number] { return value; };
  return [pending = memory_->send(number, sizeof *number)] {
    double value = 0;
    pending(&value);
    return value;
  };
}

Tensor Tensor::from_bytes(int64_t from, Shape shape, DType dtype) const {
  invariant(dtype_ == DType::u8 && contiguous() && from >= 0 && from + shape.elements() * size_of(dtype) <= bytes(),
            "elements outside the bytes");
  Tensor part(owner_, static_cast<std::byte*>(data_) + from, shape, dtype, memory_);
  part.mirror_ = mirror_;
  return part;
}

Tensor Tensor::mirrored_by(Mirror* mirror) const {
  Tensor same = *this;
  same.mirror_ = mirror;
  return same;
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
  invariant(contiguous() && shape.elements() == elements(), "a reshape keeps the number of elements");
  Tensor same(owner_, data_, shape, dtype_, memory_);
  same.mirror_ = mirror_;
  return same;
}

}  // namespace dragoman
