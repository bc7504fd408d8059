// SPDX-License-Identifier: MIT
#include <csignal>
#include <exception>
#include <string_view>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {

int dftracer_main(int argc, const char* const* argv) {
  ProcessStart process;
  // Writing to a pipe whose reader has gone is an error that Output sees, not our death.
  process.sigpipe = std::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == "run") {
    for (int i = 2; i < argc; ++i) {
      if (std::string_view(argv[i]) != "--") continue;
      process.dashes = true;
      process.behind_dashes.assign(argv + i + 1, argv + argc);
      argc = i;
    }
  }
  try {
    CommandLine line;
    add_run(line, process);
    add_info(line);
    add_validate(line);
    add_summary(line);
    add_cat(line);
    add_config(line);
    add_recover(line);
    add_completion(line);
    return line.run(argc, argv);
  } catch (const std::exception& error) {
    message(std::string("cannot go on: ") + error.what());
    return kExitDamaged;
  }
}

}  // namespace dft::tools
