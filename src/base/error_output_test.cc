// SPDX-License-Identifier: MIT
#include "base/error_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace dft::base {
namespace {

// Every case runs in a child with `fd` as its stderr: what it must not do there is to die or to hang. Its status is
// what `act` returns.
int status_of(int fd, const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    dup2(fd, 2);
    note_error_output();
    _exit(act());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int say() {
  write_error_output("line\n");
  return 0;
}

std::string take(int fd) {
  std::string text(1 << 20, '\0');
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::size_t size = 0;
  for (ssize_t n; (n = read(fd, text.data() + size, text.size() - size)) > 0;) size += static_cast<std::size_t>(n);
  text.resize(size);
  return text;
}

void fill(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  const std::string block(PIPE_BUF, 'x');
  while (write(fd, block.data(), block.size()) > 0 || write(fd, "x", 1) > 0) {
  }
  fcntl(fd, F_SETFL, flags);
}

struct TemporaryFile {
  char path[32] = "/tmp/error_output_XXXXXX";
  int fd = mkstemp(path);
  ~TemporaryFile() {
    close(fd);
    unlink(path);
  }
};

TEST(ErrorOutput, AClosedPipeRaisesNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(status_of(ends[1], say), 0);
  close(ends[1]);
}

TEST(ErrorOutput, AClosedSocketRaisesNoSignal) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[0]);
  EXPECT_EQ(status_of(ends[1], say), 0);
  close(ends[1]);
}

TEST(ErrorOutput, AFileAtTheSizeLimitRaisesNoSignal) {
  TemporaryFile file;
  EXPECT_EQ(status_of(file.fd,
                      [] {
                        const struct rlimit none = {0, 0};
                        setrlimit(RLIMIT_FSIZE, &none);
                        return say();
                      }),
            0);
}

TEST(ErrorOutput, ASignalThatWasPendingStaysTheApplications) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(status_of(ends[1],
                      [] {
                        sigset_t pipe_only;
                        sigset_t pending;
                        sigemptyset(&pipe_only);
                        sigaddset(&pipe_only, SIGPIPE);
                        sigprocmask(SIG_BLOCK, &pipe_only, nullptr);
                        raise(SIGPIPE);
                        say();
                        sigpending(&pending);
                        return sigismember(&pending, SIGPIPE) == 1 ? 3 : 4;
                      }),
            3 << 8);
  close(ends[1]);
}

TEST(ErrorOutput, AFullPipeIsNotWaitedForAndTheNextLineTells) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fill(ends[1]);
  EXPECT_EQ(status_of(ends[1],
                      [&] {
                        write_error_output("lost\nlost too\n");
                        take(ends[0]);
                        return say();
                      }),
            0);
  EXPECT_EQ(take(ends[0]), "dftracer: lines dropped because stderr did not take them: 2\nline\n");
  close(ends[0]);
  close(ends[1]);
}

TEST(ErrorOutput, AFullSocketIsNotWaitedFor) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  fill(ends[1]);
  EXPECT_EQ(status_of(ends[1], say), 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(ErrorOutput, ATerminalThatNobodyReadsIsNotWaitedFor) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) GTEST_SKIP() << "no terminals here";
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  ASSERT_GE(slave, 0);
  EXPECT_EQ(status_of(slave,
                      [] {
                        const std::string line(PIPE_BUF - 1, 'y');
                        for (int i = 0; i < 200; ++i) write_error_output(line + "\n");
                        return 0;
                      }),
            0);
  EXPECT_EQ(take(master).substr(0, 3), "yyy");
  close(slave);
  close(master);
}

TEST(ErrorOutput, AFileThatGotNumberTwoLaterIsNotWrittenTo) {
  TemporaryFile data;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(status_of(ends[1],
                      [&] {
                        dup2(data.fd, 2);
                        return say();
                      }),
            0);
  struct stat found;
  ASSERT_EQ(fstat(data.fd, &found), 0);
  EXPECT_EQ(found.st_size, 0);
  EXPECT_EQ(take(ends[0]), "");
  close(ends[0]);
  close(ends[1]);
}

TEST(ErrorOutput, ManyLinesArriveWholeAndInOrder) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "number " + std::to_string(i) + "\n";
  EXPECT_EQ(status_of(ends[1],
                      [&] {
                        write_error_output(lines);
                        return 0;
                      }),
            0);
  EXPECT_EQ(take(ends[0]), lines);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace dft::base
