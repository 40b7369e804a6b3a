// Translates the lines of stdin:   translate MODEL < source > target
#include <dragoman/engine.h>
#include <dragoman/error.h>
#include <dragoman/text_translator.h>

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: translate MODEL [DEVICE]\n";
    return 2;
  }
  try {
    dragoman::Engine engine(
        {.device = argc > 2 ? argv[2] : "cpu",
         .log = [](dragoman::LogLevel, std::string_view message) { std::cerr << message << '\n'; }});
    dragoman::TextTranslator translator(engine, {.models = {argv[1]}, .search = {.beam_size = 5}});
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
    for (const std::string& translation : translator.translate(lines)) std::cout << translation << '\n';
  } catch (const dragoman::Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << '\n';
    return 2;
  }
}
