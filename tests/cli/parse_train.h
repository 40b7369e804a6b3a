#pragma once
#include "options/train_table.h"

namespace dragoman {

/// What `dragoman train` makes of arguments beside the ones that it cannot do without.
inline TrainOptions train(Strings arguments, const Strings& vocabs = {"v", "v"}) {
  arguments.insert(arguments.end(), {"-m", "m", "-t", "a", "b", "-v"});
  arguments.insert(arguments.end(), vocabs.begin(), vocabs.end());
  TrainOptions options;
  parse(train_table(), arguments, options);
  return options;
}

}  // namespace dragoman
