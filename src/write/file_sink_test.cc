// SPDX-License-Identifier: MIT
#include "write/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace dft::write {
namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class FileSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/dft-sink-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  void TearDown() override { EXPECT_EQ(0, system(("rm -rf " + directory_).c_str())); }
  std::string directory_;
};

TEST_F(FileSinkTest, MissingDirectoriesAreMade) {
  FileSink sink;
  ASSERT_EQ(sink.open(directory_ + "/a/b/t-app", ".pfw.gz", false), 0);
  EXPECT_EQ(sink.append("one"), 0);
  EXPECT_EQ(sink.append("two"), 0);
  EXPECT_EQ(sink.size(), 6u);
  sink.close();
  EXPECT_EQ(content(directory_ + "/a/b/t-app.pfw.gz"), "onetwo");
}

TEST_F(FileSinkTest, ATakenNameIsNeverTouched) {
  std::ofstream(directory_ + "/t-app.pfw.gz") << "old";
  FileSink second;
  FileSink third;
  ASSERT_EQ(second.open(directory_ + "/t-app", ".pfw.gz", false), 0);
  ASSERT_EQ(third.open(directory_ + "/t-app", ".pfw.gz", false), 0);
  EXPECT_EQ(std::string(second.path()), directory_ + "/t-app-2.pfw.gz");
  EXPECT_EQ(std::string(third.path()), directory_ + "/t-app-3.pfw.gz");
  EXPECT_EQ(third.stem(), directory_ + "/t-app-3");
  EXPECT_EQ(content(directory_ + "/t-app.pfw.gz"), "old");
  second.close();
  third.close();
}

TEST_F(FileSinkTest, ErrorsNameTheKernelsReason) {
  FileSink sink;
  std::ofstream(directory_ + "/file") << "x";
  EXPECT_EQ(sink.open(directory_ + "/file/t-app", ".pfw", false), -ENOTDIR);
  EXPECT_EQ(sink.open(std::string(5000, 'x'), ".pfw", false), -ENAMETOOLONG);
  EXPECT_EQ(sink.append("x"), -EBADF);
}

TEST_F(FileSinkTest, ABlockThatDoesNotFitLeavesTheFileAtTheLastEdge) {
  FileSink sink;
  ASSERT_EQ(sink.open(directory_ + "/t-app", ".pfw", false), 0);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(sink.append(std::string(600, 'a')), 0);
  EXPECT_EQ(sink.append(std::string(600, 'b')), -EFBIG);  // and no SIGXFSZ reaches this process
  EXPECT_EQ(sink.append(std::string(300, 'c')), 0);
  setrlimit(RLIMIT_FSIZE, &before);
  sink.close();
  EXPECT_EQ(content(directory_ + "/t-app.pfw"), std::string(600, 'a') + std::string(300, 'c'));
}

TEST_F(FileSinkTest, ADescriptorThatTheApplicationReusedIsNotWritten) {
  FileSink sink;
  ASSERT_EQ(sink.open(directory_ + "/t-app", ".pfw", true), 0);
  ASSERT_EQ(sink.append("one"), 0);
  // The application closes everything and opens a file of its own on every number.
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  const std::string victim = directory_ + "/victim";
  const int low = open(victim.c_str(), O_CREAT | O_RDWR, 0600);
  for (int fd = 500; fd < 600; ++fd) dup2(low, fd);
  EXPECT_EQ(sink.append("two"), 0);
  EXPECT_EQ(sink.reopened(), 1u);
  sink.close();
  EXPECT_EQ(content(victim), "");
  EXPECT_EQ(content(directory_ + "/t-app.pfw"), "onetwo");
  for (int fd = 500; fd < 600; ++fd) close(fd);
  close(low);
}

TEST_F(FileSinkTest, AReplacedFileIsNotOursEither) {
  FileSink sink;
  ASSERT_EQ(sink.open(directory_ + "/t-app", ".pfw", true), 0);
  ASSERT_EQ(sink.append("one"), 0);
  for (int fd = 512; fd < 600; ++fd) close(fd);
  unlink((directory_ + "/t-app.pfw").c_str());
  std::ofstream(directory_ + "/t-app.pfw") << "theirs";
  EXPECT_EQ(sink.append("two"), -ESTALE);
  EXPECT_EQ(content(directory_ + "/t-app.pfw"), "theirs");
}

TEST_F(FileSinkTest, ARemovedFileIsReportedNotFilled) {
  for (const bool shared : {false, true}) {
    FileSink sink;
    ASSERT_EQ(sink.open(directory_ + "/t-app", ".pfw", shared), 0);
    ASSERT_EQ(sink.append("one"), 0);
    unlink(sink.path());
    EXPECT_EQ(sink.append("two"), -ENOENT);
    sink.close();
  }
}

TEST_F(FileSinkTest, ASignalThatWasPendingBeforeStaysPending) {
  FileSink sink;
  ASSERT_EQ(sink.open(directory_ + "/t-app", ".pfw", false), 0);
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  pthread_kill(pthread_self(), SIGXFSZ);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  rlimit small = limit;
  small.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(sink.append(std::string(20, 'a')), -EFBIG);
  setrlimit(RLIMIT_FSIZE, &limit);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 1) << "the application's own";
  const timespec none = {0, 0};
  EXPECT_EQ(sigtimedwait(&set, nullptr, &none), SIGXFSZ);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace dft::write
