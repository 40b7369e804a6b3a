#pragma once
#include <string>
#include <vector>

#include "backend/products.h"
#include "io/model_file.h"

namespace dragoman {

/// Matrices in 8 bits, as `dragoman quantize` stores them and `--precision int8` multiplies with them: row d is
/// scale[d] · q[d], scale[d] = max|w[d]| / 127, q the nearest integers in -127 … 127, ties to even.
///
/// Rounding what was rounded changes nothing: the row's largest is 127 · scale, and (127 · s) / 127 == s in float32 for
/// every s that is itself a quotient by 127 (a test tries them all). So Backend::pack makes of the floats what
/// pack_rounded makes of the file that was made from them.

/// Whether a weight of a model is stored in 8 bits. Vectors (biases, norms) and learned positions are few and stay.
bool stored_in_int8(const std::string& name, const Tensor& w);

/// "a.weight" has its scales in "a.weight_scale".
std::string scale_name(const std::string& weight);

/// q (D,K) i8, scales (D) f32 from w (D,K) f32. `where` names w in the Error for a weight that is not finite or, at the
/// very end of float32's range, whose row cannot be restored.
void round_rows(const Tensor& q, const Tensor& scales, const Tensor& w, const std::string& where);

/// Replaces w (D,K) by what round_rows and restore_rows make of it.
void round_in_place(const Tensor& w, const std::string& where);

/// A matrix as a file has it; the file must outlive it. Error, naming file and tensor, when it is none, when the scales
/// are missing or of another shape, or when a scale or an integer is none that round_rows makes.
RoundedRows rounded_rows(const TensorEntry& q, const SafetensorsFile& file);

/// w (D,K), f32 or f64, from its entries in a file. Error as of rounded_rows.
void restore_rows(const Tensor& w, const TensorEntry& q, const SafetensorsFile& file);

/// The weights of a model as its file in 8 bits has them; those that are not stored so are passed on. The rest is
/// allocated. Error, naming the tensor in `path`, when a weight is not finite.
std::vector<NamedTensor> in_int8(const std::vector<NamedTensor>& weights, Arena& arena, const std::string& path);

}  // namespace dragoman
