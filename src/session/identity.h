// SPDX-License-Identifier: MIT
// Purpose: who this process is in a trace: host, program, command line, rank.
// Threads: the starting thread. Reads /proc by raw system calls; never fails, unknown parts stay empty.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dft::session {

struct Identity {
  std::string host;
  std::string exec_name;  // as in the file name hash
  std::string command;    // arguments joined by ';', as long as they are
  std::string cwd;
};
Identity read_identity();

// The first argument that names the program: basename of the first that is not an option and not exactly `env`,
// `python` or `pythonN[.N]`, nor holds `multiprocessing`. DEFAULT, or DEFAULT-spawn after `multiprocessing`.
std::string exec_name(const std::vector<std::string>& arguments);

// Rank by the innermost launcher's variable (torchrun, Open MPI, PMIx, PMI, MVAPICH, Flux, Slurm); `source` names it.
struct Rank {
  bool known = false;
  std::string value;
  std::string source;
};
Rank rank_from_launcher(const char* (*lookup)(const char* name));

// "<prefix>-<hash16>-<suffix>", absolute.
std::string trace_stem(std::string_view absolute_prefix, const Identity& identity, int pid, std::string_view suffix);
// Empty when `path` is relative and the directory unknown.
std::string make_absolute(std::string_view path, std::string_view directory);
// False, and "", when it was deleted or lies outside the root directory of this process.
bool current_directory(char* out, std::size_t size);
// A prefix given by the init call loses its extension: .pfw.gz, .pfw, or the last one; a dotfile keeps its dot.
std::string strip_extension(std::string_view path);

}  // namespace dft::session
