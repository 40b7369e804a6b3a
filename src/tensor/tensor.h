#pragma once
#include <functional>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace dragoman {

/// Typed access to a matrix inside a kernel: x(n, d), x.row(n); a vector (D) is treated as one row: x(d).
template <class T>
struct View {
  T* data = nullptr;
  int64_t rows = 0, cols = 0, stride = 0;  // stride: elements from one row to the next

  constexpr T& operator()(int64_t n, int64_t d) const { return data[n * stride + d]; }
  constexpr T& operator()(int64_t d) const { return data[d]; }
  constexpr T* row(int64_t n) const { return data + n * stride; }
  explicit constexpr operator bool() const { return data != nullptr; }
};

/// Counts device operations that cost host time. Once a run has warmed up, it needs neither allocations nor recordings.
struct DeviceCounts {
  int64_t allocations = 0;    // of memory, for tensors and for everything else
  int64_t waits = 0;          // for the device to finish all its work, not just for a pending number
  int64_t uploads = 0;        // of data that the host made for kernels
  int64_t recordings = 0;     // of kernel calls (backend/recorder.h)
  int64_t replays = 0;        // of recordings
  int64_t slow_products = 0;  // matrix products for which the device's library has no kernel
};

/// Values being sent to the host. Call it once, with room for them: it waits for the values, but not for work queued
/// later.
using PendingBytes = std::function<void(void* host)>;
/// The same of one number.
using PendingNumber = std::function<double()>;

/// A point in the device's command stream.
using Moment = std::shared_ptr<void>;

/// Memory that the host cannot read, such as a GPU's, as provided by the backend that computes there.
struct DeviceMemory {
  int64_t (*capacity)();                                             // bytes that are free for tensors
  void* (*reserve)(int64_t bytes);                                   // reserves addresses; null: none left
  bool (*commit)(void* base, int64_t from, int64_t to);              // commits memory to them; false: none left
  void (*release)(void* base, int64_t reserved, int64_t committed);  // releases memory and addresses
  void (*download)(void* host, const void* device, int64_t bytes);   // synchronous
  void (*finish)();                                                  // waits until the device has done all its work
  void (*upload)(void* device, const void* host, int64_t bytes);     // `host` may change when it returns
  PendingBytes (*send)(const void* device, int64_t bytes);           // the current values, in stream order
  DeviceCounts (*counts)() = nullptr;                                // null: not counted
  /// For debugging: separate memory for each tensor, so that tools detect overruns. Null: tensors share a range.
  std::shared_ptr<void> (*alone)(int64_t bytes) = nullptr;
  /// The device's own clock. Null: it has none.
  Moment (*now)() = nullptr;
  double (*seconds_between)(const Moment& begin, const Moment& end) = nullptr;  // waits until both have passed
};

/// A device's copy of values made by the host, created on first request and kept as long as the values live.
struct Mirror {
  const void* host = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<void> copy = {};
};

/// A typed view of memory with a shape, at most rank 3; rows may be strided (columns of a wider matrix).
/// Cheap to copy. Keeps its arena block alive; other memory (mapped file, host vector) must outlive it. An empty tensor
/// (rank 0) means "not present" in optional arguments.
/// Tensors lie in the memory of their backend; the host reads and writes them through on_host() and assign(). Integers
/// that the host makes for kernels (ids, positions, rows, lengths) stay host-readable, with a Mirror for a device.
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<void> owner, void* data, Shape shape, DType dtype, const DeviceMemory* memory = nullptr)
      : owner_(std::move(owner)), data_(data), shape_(shape), dtype_(dtype), stride_(shape.back()), memory_(memory) {}
  /// Borrows `data`: the caller keeps it alive.
  template <class T>
  static Tensor borrow(T* data, Shape shape) {
    return Tensor(nullptr, const_cast<std::remove_const_t<T>*>(data), shape, dtype_of<std::remove_const_t<T>>());
  }

  explicit operator bool() const { return shape_.rank() > 0; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t cols() const { return shape_.back(); }                                // extent of the last axis
  int64_t rows() const { return cols() == 0 ? outer() : elements() / cols(); }  // product of the others, 1 for a vector
  int64_t elements() const { return shape_.elements(); }
  int64_t bytes() const { return elements() * size_of(dtype_); }
  int64_t stride() const { return stride_; }
  bool contiguous() const { return stride_ == cols() || rows() <= 1; }
  void* data() const { return data_; }
  const DeviceMemory* memory() const { return memory_; }  // null: the host's
  Mirror* mirror() const { return mirror_; }              // null: none

  Tensor on_host() const;                   // host-readable values: this tensor, or a copy
  Tensor room_on_host() const;              // uninitialised memory to fill for assign(), or this tensor if on the host
  void assign(const Tensor& values) const;  // copies from a host tensor of the same shape, type and stride
  PendingNumber send() const;               // one f64 number, as of the kernels called so far
  /// Asynchronous on_host(): calling the result waits for the values, which are as of the kernels called so far.
  std::function<Tensor()> fetch() const;
  Tensor mirrored_by(Mirror* mirror) const;  // the same tensor with a mirror, which the caller keeps alive

  template <class T>
  T* as() const {
    invariant(!*this || dtype_ == dtype_of<std::remove_const_t<T>>(), "tensor has a different element type");
    return static_cast<T*>(data_);
  }
  template <class T>
  View<T> view() const {
    if (!*this) return {};
    return {as<T>(), rows(), cols(), stride_};
  }

  Tensor columns(int64_t from, int64_t count) const;    // (N,D) -> (N,count), same memory
  Tensor row_range(int64_t from, int64_t count) const;  // (N,D) -> (count,D); of a vector (D): elements
  Tensor reshaped(Shape shape) const;                   // of a contiguous tensor, with the same number of elements
  Tensor from_bytes(int64_t from, Shape shape, DType dtype) const;  // of U8 (bytes): the elements from this byte on

 private:
  int64_t outer() const;
  int64_t spanned_bytes() const;  // from the first element to the last

  std::shared_ptr<void> owner_;
  void* data_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::f32;
  int64_t stride_ = 0;
  const DeviceMemory* memory_ = nullptr;
  Mirror* mirror_ = nullptr;
};

}  // namespace dragoman
