// SPDX-License-Identifier: MIT
#include "tools/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace dft::tools {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

[[noreturn]] void become(const std::string& path, const std::vector<std::string>& command,
                         const std::vector<std::pair<std::string, std::string>>& environment, sighandler_t sigpipe,
                         const sigset_t& mask, int error_pipe) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, sigpipe);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execv(path.c_str(), arguments.data());
  int error = errno;
  if (error == ENOEXEC) {  // a script without #!: as execvp does
    arguments.insert(arguments.begin(), const_cast<char*>("/bin/sh"));
    arguments[1] = const_cast<char*>(path.c_str());
    execv("/bin/sh", arguments.data());
    error = errno;
  }
  if (write(error_pipe, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

// True when the child has ended and `result` says how.
bool take_state(pid_t child, ChildResult& result) {
  int state = 0;
  while (waitpid(child, &state, WNOHANG | WUNTRACED) == child) {
    if (WIFSTOPPED(state)) {
      kill(getpid(), SIGSTOP);  // the shell sees us stop; on SIGCONT we go on, and so does the child
      kill(child, SIGCONT);
      continue;
    }
    result.signalled = WIFSIGNALED(state);
    result.status = result.signalled ? WTERMSIG(state) : WEXITSTATUS(state);
    return true;
  }
  return false;
}

// What the terminal sends, it sends to the child too; what a process sent to us is meant for the child.
void forward(pid_t child, const siginfo_t& info) {
  const bool from_process = info.si_code <= 0;
  if (from_process || info.si_signo == SIGCONT) kill(child, info.si_signo);
}

}  // namespace

ChildResult run_child(const std::string& path, const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, sighandler_t sigpipe) {
  ChildResult result;
  const sigset_t watched = watched_signals();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, &watched, &mask);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return result;
  }
  const pid_t child = fork();
  if (child == 0) become(path, command, environment, sigpipe, mask, pipe_ends[1]);
  close(pipe_ends[1]);
  if (child < 0) {
    result.start_error = errno;
    close(pipe_ends[0]);
    return result;
  }
  result.pid = child;
  int error = 0;
  ssize_t got;
  do {
    got = read(pipe_ends[0], &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  close(pipe_ends[0]);
  if (got == static_cast<ssize_t>(sizeof error)) result.start_error = error;
  while (!take_state(child, result)) {
    siginfo_t info{};
    if (sigwaitinfo(&watched, &info) > 0 && info.si_signo != SIGCHLD) forward(child, info);
  }
  return result;
}

void die_by(int signal) {
  const struct rlimit none { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace dft::tools
