#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::dry {

void install(Backend& backend);

}  // namespace dragoman::dry
