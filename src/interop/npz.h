#pragma once
#include "interop/foreign_tensor.h"

namespace dragoman {

/// Reads the arrays of a NumPy archive, a zip of .npy files
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), formats 1 to 3, little-endian, in C or
/// Fortran order. Only the headers are read; data is read on demand. Error, naming file and array, for types that DType
/// lacks and for headers that do not match their data.
std::vector<ForeignTensor> read_npz(const std::string& path);

}  // namespace dragoman
