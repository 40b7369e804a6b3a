// Trains a small model, or resumes where an earlier call stopped:   train SOURCE TARGET VOCAB MODEL
#include <dragoman/engine.h>
#include <dragoman/error.h>
#include <dragoman/train.h>

#include <iostream>
#include <string>
#include <variant>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: train SOURCE TARGET VOCAB MODEL\n";
    return 2;
  }
  const std::string source = argv[1], target = argv[2], vocab = argv[3], model = argv[4];
  try {
    dragoman::Engine engine(
        {.log = [](dragoman::LogLevel, std::string_view message) { std::cerr << message << '\n'; }});
    const auto observer = [](const dragoman::RunMoment& now, const dragoman::RunEvent& event) {
      if (const auto* report = std::get_if<dragoman::RunReport>(&event))
        std::cout << now.updates << " updates: cost " << report->cost << std::endl;
    };
    const dragoman::NamedOptions options = {{"train-sets", {source, target}},
                                            {"vocabs", {vocab, vocab}},
                                            {"model", {model}},
                                            {"task", {"transformer-tiny"}},
                                            {"enc-depth", {"1"}},
                                            {"dec-depth", {"1"}},
                                            {"transformer-dropout", {"0"}},
                                            {"mini-batch-words", {"1024"}},
                                            {"learn-rate", {"0.003"}},
                                            {"lr-warmup", {"150"}},
                                            {"after", {"3e"}}};
    const dragoman::TrainResult result = dragoman::train(engine, options, observer);
    std::cout << "the model has had " << result.updates << " updates\n";
  } catch (const dragoman::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << '\n';
    return 2;
  }
}
