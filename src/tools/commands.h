// SPDX-License-Identifier: MIT
// Purpose: the subcommands of `dftracer`. Each adds itself to the command line.
// See: docs/tools.md.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace dft::tools {

// Exit statuses; `run` returns the program's own.
inline constexpr int kExitGood = 0;
inline constexpr int kExitDamaged = 1;  // some input was damaged or invalid, or nothing was found
inline constexpr int kExitUsage = 2;

inline constexpr int kSchemaVersion = 1;  // of every --json object

class CommandLine;

// What `run` needs from the very beginning of the process.
struct ProcessStart {
  bool dashes = false;                     // there was a `--`
  std::vector<std::string> behind_dashes;  // arguments after the first one
  sighandler_t sigpipe = SIG_DFL;          // disposition that this process was started with
};

void add_info(CommandLine& line);
void add_validate(CommandLine& line);
void add_summary(CommandLine& line);
void add_cat(CommandLine& line);
void add_config(CommandLine& line);
void add_run(CommandLine& line, const ProcessStart& process);
void add_recover(CommandLine& line);
void add_completion(CommandLine& line);

// The whole command; what main() calls.
int dftracer_main(int argc, const char* const* argv);

}  // namespace dft::tools
