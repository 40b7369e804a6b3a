#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::dry {

/// Makes it the backend "dry", on the host: each kernel that computes is replaced by one that does nothing. Size
/// queries stay those of the backend.
void install(Backend& backend);

}  // namespace dragoman::dry
