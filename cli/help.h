#pragma once
#include <string>
#include <vector>

#include "options/flags.h"

namespace dragoman {

struct Command;

/// `dragoman --help`: the subcommands, one line each, and three examples.
std::string overview(const std::vector<Command>& commands);

/// `dragoman train --help`: every option by group with its default, at most 90 columns wide.
std::string help_page(const About& about, const std::vector<Option>& options);
constexpr std::string_view every_option = "all";  // what --help asks for when it stands alone

/// `dragoman train -h`: the options that `essentials` names, or all if it is empty.
std::string short_help_page(const About& about, const std::vector<Option>& options,
                            const std::vector<std::string_view>& essentials);

/// `dragoman train --help WORD`: the options whose names, groups or meanings have the word. Throws Error if none has.
std::string search_page(const About& about, const std::vector<Option>& options, const std::string& word);

/// "-b, --beam-size N"; an optional value is in brackets.
std::string signature(const Option& option);

/// The option's help, choices and default.
std::string notes(const Option& option);

/// docs/options.md: the same as tables, for all subcommands.
std::string options_page(const std::vector<Command>& commands);

}  // namespace dragoman
