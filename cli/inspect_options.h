#pragma once
#include <string>
#include <vector>

namespace dragoman {

struct InspectOptions {
  std::string model;
  std::vector<std::string> vocabs;  // for another program's model, if no file beside it names them
  bool devices = false;             // list the hardware instead
  bool options = false;             // print only the options of train that define such a model
  bool json = false;
};

}  // namespace dragoman
