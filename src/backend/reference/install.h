#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::reference {

void install(Backend& backend);

}  // namespace dragoman::reference
