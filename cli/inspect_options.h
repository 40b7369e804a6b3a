#pragma once
#include <string>

namespace dragoman {

struct InspectOptions {
  std::string model;
  bool devices = false;  // list the hardware instead
  bool options = false;  // print only the options of train that define such a model
  bool json = false;
};

}  // namespace dragoman
