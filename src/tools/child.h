// SPDX-License-Identifier: MIT
// Purpose: starts a program and stays in front of it as if we were not there: signals go on to it, its stops and its
//          end become ours.
// Threads: the process must have one thread; signals are blocked in it from then on.
#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace dft::tools {

struct ChildResult {
  int start_error = 0;  // errno of exec; the rest means nothing then
  bool signalled = false;
  int status = 0;  // exit status or signal number
  pid_t pid = 0;
};

// `environment`: variables set for the child only. `sigpipe`: the disposition of SIGPIPE that it gets.
ChildResult run_child(const std::string& path, const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, sighandler_t sigpipe);

// Ends this process by `signal` without a core dump of ours; returns only when that does not end it.
void die_by(int signal);

}  // namespace dft::tools
