// SPDX-License-Identifier: MIT
#include "sources/io/fd_name.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace dft::io {
namespace {

std::string by_inode(const char* kind, int fd) {
  struct stat info = {};
  EXPECT_EQ(fstat(fd, &info), 0);
  return std::string(kind) + ":[" + std::to_string(info.st_ino) + "]";
}

// Closes it, too.
void expect_name(int fd, const std::string& text, FdKind kind) {
  ASSERT_GE(fd, 0);
  char memory[PATH_MAX];
  const FdName name = fd_name(fd, memory, sizeof memory);
  EXPECT_EQ(name.text, text);
  EXPECT_EQ(name.kind, kind) << text;
  close(fd);
}

class FdNameTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/dft-fdname-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    char real[PATH_MAX];
    ASSERT_NE(realpath(name, real), nullptr);
    folder_ = real;
  }
  void TearDown() override { EXPECT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0); }
  int make(const std::string& name) const { return open((folder_ + name).c_str(), O_CREAT | O_RDWR, 0600); }
  std::string folder_;
};

TEST_F(FdNameTest, FilesAndDirectoriesHaveTheirPath) {
  expect_name(make("/x"), folder_ + "/x", FdKind::kFile);
  expect_name(open(folder_.c_str(), O_RDONLY | O_DIRECTORY), folder_, FdKind::kDirectory);
  expect_name(open(folder_.c_str(), O_PATH), folder_, FdKind::kDirectory);
  expect_name(open("/", O_RDONLY), "/", FdKind::kDirectory);
}

TEST_F(FdNameTest, RemovedFilesKeepTheirName) {
  const int fd = make("/x");
  ASSERT_EQ(unlink((folder_ + "/x").c_str()), 0);
  expect_name(fd, folder_ + "/x", FdKind::kFile);
  const int linked = make("/y");  // another link lives on: only this name is gone
  ASSERT_EQ(link((folder_ + "/y").c_str(), (folder_ + "/z").c_str()), 0);
  ASSERT_EQ(unlink((folder_ + "/y").c_str()), 0);
  expect_name(linked, folder_ + "/y", FdKind::kFile);
}

TEST_F(FdNameTest, AFileMayReallyBeCalledDeleted) {
  expect_name(make("/x (deleted)"), folder_ + "/x (deleted)", FdKind::kFile);
  const int fd = make("/y (deleted)");
  ASSERT_EQ(unlink((folder_ + "/y (deleted)").c_str()), 0);
  expect_name(fd, folder_ + "/y (deleted)", FdKind::kFile);
  const int gone = make("/z");  // and another one may take the name that the link seems to have
  ASSERT_EQ(unlink((folder_ + "/z").c_str()), 0);
  close(make("/z (deleted)"));
  expect_name(gone, folder_ + "/z", FdKind::kFile);
}

TEST_F(FdNameTest, TemporaryFilesWithoutANameHaveTheKernels) {
  const int fd = open(folder_.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (fd < 0) GTEST_SKIP() << "no O_TMPFILE on this file system";
  struct stat info = {};
  ASSERT_EQ(fstat(fd, &info), 0);
  expect_name(fd, folder_ + "/#" + std::to_string(info.st_ino), FdKind::kFile);
}

TEST_F(FdNameTest, WhatHasNoPathIsNamedByKind) {
  int pair[2];
  ASSERT_EQ(pipe(pair), 0);
  expect_name(pair[0], by_inode("pipe", pair[0]), FdKind::kPipe);
  expect_name(pair[1], by_inode("pipe", pair[1]), FdKind::kPipe);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  expect_name(pair[0], by_inode("socket", pair[0]), FdKind::kSocket);
  expect_name(pair[1], by_inode("socket", pair[1]), FdKind::kSocket);
  expect_name(epoll_create1(0), "anon_inode:[eventpoll]", FdKind::kEpoll);
  expect_name(eventfd(0, 0), "anon_inode:[eventfd]", FdKind::kOther);
  expect_name(memfd_create("weights", 0), "memfd:weights", FdKind::kMemfd);
  expect_name(memfd_create("", 0), "memfd:", FdKind::kMemfd);
  expect_name(memfd_create("x (deleted)", 0), "memfd:x (deleted)", FdKind::kMemfd);
}

TEST_F(FdNameTest, FifosAndDevicesHaveTheirPathAndKind) {
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_name(open(fifo.c_str(), O_RDWR), fifo, FdKind::kPipe);
  expect_name(open("/dev/null", O_RDONLY), "/dev/null", FdKind::kOther);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return;  // no devpts here
  char name[64] = {};
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  ASSERT_EQ(ptsname_r(terminal, name, sizeof name), 0);
  expect_name(open(name, O_RDWR | O_NOCTTY), name, FdKind::kTerminal);
  close(terminal);
}

TEST_F(FdNameTest, NamesBeyondTheKernelsLimitAreNamedByInode) {
  int at = open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  const std::string name(250, 'd');
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(mkdirat(at, name.c_str(), 0700), 0);
    const int next = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
    close(at);
    at = next;
  }
  const int file = openat(at, "x", O_CREAT | O_RDWR, 0600);
  expect_name(file, by_inode("file", file), FdKind::kFile);
  expect_name(at, by_inode("directory", at), FdKind::kDirectory);
}

TEST_F(FdNameTest, NothingIsSaidOfClosedNumbers) {
  char memory[PATH_MAX];
  for (const int fd : {-1, -100, INT_MIN, INT_MAX, 99999}) {
    EXPECT_TRUE(fd_name(fd, memory, sizeof memory).text.empty()) << fd;
  }
}

TEST_F(FdNameTest, ErrnoStaysAsItWas) {
  char memory[PATH_MAX];
  errno = 77;
  fd_name(99999, memory, sizeof memory);
  fd_name(0, memory, sizeof memory);
  EXPECT_EQ(errno, 77);
}

TEST_F(FdNameTest, AThreadWithItsOwnTableSeesItsOwnFiles) {
  const int fd = make("/shared");
  std::string seen;
  std::thread([&] {
    if (unshare(CLONE_FILES) != 0) return;
    const int own = make("/own");
    if (dup2(own, fd) != fd) return;
    char memory[PATH_MAX];
    seen = fd_name(fd, memory, sizeof memory).text;
  }).join();
  EXPECT_EQ(seen, folder_ + "/own");
  expect_name(fd, folder_ + "/shared", FdKind::kFile);
}

}  // namespace
}  // namespace dft::io
