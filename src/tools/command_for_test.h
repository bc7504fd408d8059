// SPDX-License-Identifier: MIT
// Purpose: runs the built `dftracer` in tests and takes what it says.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "read/traces_for_test.h"

namespace dft::tools::test {

struct Said {
  int status = -1;  // exit status, or 1000 + signal
  std::string out;
  std::string err;
};

inline Said run_program(std::vector<std::string> arguments) {
  const read::test::TempDir dir;
  const std::string out = dir.path("out"), err = dir.path("err");
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(99);
  }
  int state = 0;
  waitpid(child, &state, 0);
  Said said;
  said.status = WIFSIGNALED(state) ? 1000 + WTERMSIG(state) : WEXITSTATUS(state);
  said.out = read::test::slurp(out);
  said.err = read::test::slurp(err);
  return said;
}

inline Said dftracer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), DFT_TEST_COMMAND);
  return run_program(std::move(arguments));
}

// A trace as our own writer makes it: host, unit, file, start, `body`, end. Events of the body begin with id 2.
inline std::string our_trace(const std::string& body, std::uint64_t events_of_body, bool with_end = true) {
  const std::string hash = "2a702c695247d487";
  const auto metadata = [&](const char* name, const char* key, const char* value) {
    return std::string(R"({"name":")") + name +
           R"(","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":")" + hash + R"(","name":")" + key +
           R"(","value":")" + value + "\"}}\n";
  };
  const auto life_cycle = [&](std::uint64_t id, const char* name, std::uint64_t ts, const std::string& more) {
    return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name +
           R"(","cat":"dftracer","type":1,"pid":7,"tid":7,"ts":)" + std::to_string(ts) +
           R"(,"dur":0,"ph":1,"args":{"hhash":")" + hash + "\"," + more + "}}\n";
  };
  std::string text = metadata("HH", "corona211", hash.c_str()) + metadata("CM", "time_metric", "US") +
                     metadata("FH", "/tmp/a", "4a40025765d5119b") +
                     life_cycle(1, "start", 1000, R"("version":"5","build":{})") + body;
  if (with_end) {
    text += life_cycle(events_of_body + 2, "end", 1'000'000, "\"num_events\":" + std::to_string(events_of_body + 1));
  }
  return text;
}

inline std::string work(std::uint64_t id, std::uint64_t ts, std::uint64_t dur, const std::string& name = "work") {
  return read::test::event_line(id, name, ts, dur);
}

}  // namespace dft::tools::test
