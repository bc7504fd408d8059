// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string_view>

#include "base/log.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {
namespace {

// A file that we open must not get the number of a stream that was closed before us: what is printed would land in it.
// Reading only, so that printing fails as it should; a program that we start does not get it.
void occupy_closed_streams() {
  for (int fd = open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    if (fd <= 2) continue;
    close(fd);
    return;
  }
}

}  // namespace

int dftracer_main(int argc, const char* const* argv) {
  occupy_closed_streams();
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
    const int status = line.run(argc, argv);
    if (output_error() == 0) return status;
    message("cannot write the output: " + std::string(base::error_text(output_error())));
    return status == kExitGood ? static_cast<int>(kExitDamaged) : status;
  } catch (const std::exception& error) {
    message(std::string("cannot go on: ") + error.what());
    return kExitDamaged;
  }
}

}  // namespace dft::tools
