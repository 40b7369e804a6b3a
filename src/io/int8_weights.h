#pragma once
#include <string>
#include <vector>

#include "backend/products.h"
#include "io/model_file.h"
#include "tensor/arena.h"

namespace dragoman {

/// Matrices in 8 bits, as `dragoman quantize` stores them and `--precision int8` multiplies with them: row d is
/// scale[d] · q[d], scale[d] = max|w[d]| / 127, q the nearest integers in -127 … 127, ties to even.
///
/// Rounding is idempotent: the largest value of a rounded row is 127 · scale, and (127 · s) / 127 == s in float32 for
/// every s that is itself a quotient by 127 (a test tries them all). So Backend::pack of floats gives the same as
/// pack_rounded of the file that was written from them.

/// Whether a weight of a model is stored in 8 bits. Vectors (biases, norms) and learned positions are small and stay in
/// float32.
bool stored_in_int8(const std::string& name, const Tensor& w);

/// The scales of "a.weight" are "a.weight_scale".
std::string scale_name(const std::string& weight);

/// Writes q (D,K) i8 and scales (D) f32 for w (D,K) f32. Error, naming w by `where`, for a weight that is not finite
/// and for a row whose largest value is too close to the limit of float32 to be restored.
void round_rows(const Tensor& q, const Tensor& scales, const Tensor& w, const std::string& where);

/// Replaces w (D,K) by its value after round_rows and restore_rows.
void round_in_place(const Tensor& w, const std::string& where);

/// A matrix of a file, which must outlive it. Error, naming file and tensor, if it is not a matrix, if its scales are
/// missing or of another shape, or if round_rows cannot have written one of its scales or integers.
RoundedRows rounded_rows(const TensorEntry& q, const SafetensorsFile& file);

/// Restores w (D,K), f32 or f64, from its entries in a file. Error as in rounded_rows.
void restore_rows(const Tensor& w, const TensorEntry& q, const SafetensorsFile& file);

/// The weights of a model as its file in 8 bits holds them. Weights that stay in float32 are returned as they are; the
/// others are allocated. Error, naming the tensor in `path`, if a weight is not finite.
std::vector<NamedTensor> in_int8(const std::vector<NamedTensor>& weights, Arena& arena, const std::string& path);

}  // namespace dragoman
