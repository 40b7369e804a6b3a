#pragma once
#include <string_view>

#include "tensor/arena.h"

namespace dragoman {

struct Backend;

/// Suffix of the name of a GPU backend whose f32 products may round factors to TF32.
constexpr std::string_view fast_backend = ":tf32";

/// Whether there may be a backend of that name, and whether it is that of a GPU. What the GPU needs may be missing.
bool is_backend(std::string_view name);
bool is_gpu(std::string_view name);

/// The backend of that name, which users may choose: "cpu", "reference", or "cuda:0", the first GPU, or "cuda:0:tf32";
/// a process uses one GPU. Made once and shared. Throws Error for other names, listing these, and for GPUs that cannot
/// be used, saying what is missing.
const Backend& backend(std::string_view name);

/// A backend "dry" that computes nothing, for tensors that have addresses but no memory. Its size queries are those of
/// `real`.
Backend dry_like(const Backend& real);

/// An arena in the memory of that backend.
Arena arena_of(const Backend& backend);

}  // namespace dragoman
