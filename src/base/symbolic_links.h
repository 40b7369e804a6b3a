#pragma once
#include <filesystem>
#include <string>

namespace dragoman {

/// What a chain of symbolic links leads to, in a folder without links; it need not exist yet.
std::filesystem::path without_links(std::filesystem::path path);

/// Whether there is something of this name, be it a link that leads nowhere: whoever opens that one says so.
bool is_there(const std::filesystem::path& path);

/// Whether a name or a link that it leads to lies in /proc, as those of /dev/stdout and /dev/fd/3 do: what it names is
/// an open file, which a process can write to but not replace.
bool leads_into_proc(std::filesystem::path path);

/// Whether this is a name of the standard input, or a link to one: /dev/stdin, /dev/fd/0, /proc/self/fd/0.
bool leads_to_stdin(std::filesystem::path path);

/// The file that a writer of `path` replaces: what it leads to if it is a symbolic link, else `path` as it is.
std::string behind_link(const std::string& path);

}  // namespace dragoman
