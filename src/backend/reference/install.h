#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::reference {

/// Fills every slot with the plain-loop definition, in f32 and f64 and, where the slot takes them, in 16 bits.
void install(Backend& backend);

}  // namespace dragoman::reference
