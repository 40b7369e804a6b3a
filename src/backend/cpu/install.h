#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::cpu {

void install(Backend& backend);

}  // namespace dragoman::cpu
