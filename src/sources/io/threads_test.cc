// SPDX-License-Identifier: MIT
// Many threads in the wrappers at once, for ThreadSanitizer, which says nothing about calls that are bound; and what
// they recorded, which is the same in every build.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "sources/io/posix.gen.h"
#include "sources/io/stdio.gen.h"
#include "sources/io/wrappers_for_test.h"

namespace dft::io {
namespace {

constexpr int kThreads = 32;
constexpr int kTurns = 40;

class IoThreadsTest : public WrappersTest {
 protected:
  // Descriptors go from one thread to the next by the kernel, which gives out the lowest free number.
  void on_own_files(const std::string& name) {
    char data[16];
    const std::string other = name + ".renamed";
    const int fd = wrap_open(name.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
    const int copy = wrap_dup(fd);
    wrong_ += wrap_write(fd, "0123456789", 10) != 10;
    wrong_ += wrap_close(fd) != 0;
    wrong_ += wrap_pread(copy, data, 10, 0) != 10;
    wrong_ += wrap_close(copy) != 0;
    FILE* stream = wrap_fopen(name.c_str(), "a+");
    wrong_ += wrap_fwrite("abcdef", 1, 6, stream) != 6;
    wrap_rewind(stream);
    wrong_ += wrap_fread(data, 1, 16, stream) != 16;
    wrong_ += wrap_fclose(stream) != 0;
    struct stat out;
    wrong_ += wrap_stat(name.c_str(), &out) != 0;
    wrong_ += wrap_rename(name.c_str(), other.c_str()) != 0;
    wrong_ += wrap_unlink(other.c_str()) != 0;
  }

  // One file, one name that comes and goes, and one descriptor for all.
  void on_shared_files(int shared, int number) {
    char byte = 0;
    struct stat out;
    const int fd = wrap_open(path("shared").c_str(), O_RDWR);
    wrong_ += wrap_read(fd, &byte, 1) != 1;
    wrong_ += wrap_close(fd) != 0;
    wrong_ += wrap_write(shared, "x", 1) != 1;
    wrong_ += wrap_fputc('y', stream_) != 'y';
    const bool even = number % 2 == 0;
    wrap_rename(path(even ? "here" : "there").c_str(), path(even ? "there" : "here").c_str());
    wrap_stat(path("here").c_str(), &out);
    wrap_chdir(even ? folder_.c_str() : "/");
    wrap_access("here", R_OK);  // of whichever directory
  }

  std::map<std::string, int> counted(const std::string& file) {
    std::map<std::string, int> counts;
    for (const Event& event : events()) {
      if (event.file == file) ++counts[event.name];
    }
    return counts;
  }

  std::atomic<int> wrong_{0};
  FILE* stream_ = nullptr;
};

TEST_F(IoThreadsTest, LoseNoCallAndMixNoFiles) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof before), nullptr);
  const int shared = wrap_open(path("shared").c_str(), O_CREAT | O_RDWR | O_APPEND, 0600);
  ASSERT_EQ(wrap_write(shared, "x", 1), 1);
  ASSERT_EQ(wrap_close(wrap_creat(path("here").c_str(), 0600)), 0);
  stream_ = wrap_fopen(path("stream").c_str(), "w");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, shared, i] {
      for (int turn = 0; turn < kTurns; ++turn) {
        on_own_files(path("own") + std::to_string(i));
        on_shared_files(shared, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  wrap_fclose(stream_);
  wrap_close(shared);
  ASSERT_EQ(chdir(before), 0);
  EXPECT_EQ(wrong_.load(), 0);
  for (int i = 0; i < kThreads; ++i) {
    const std::map<std::string, int> wanted = {{"open", 1},  {"dup", 1},    {"write", 1},  {"close", 2},
                                               {"pread", 1}, {"fopen", 1},  {"fwrite", 1}, {"rewind", 1},
                                               {"fread", 1}, {"fclose", 1}, {"stat", 1},   {"rename", 1}};
    std::map<std::string, int> found = counted(path("own") + std::to_string(i));
    for (const auto& [name, times] : wanted) EXPECT_EQ(found[name], times * kTurns) << name << " of " << i;
    EXPECT_EQ(found.size(), wanted.size());
  }
  std::map<std::string, int> shared_calls = counted(path("shared"));
  EXPECT_EQ(shared_calls["open"], kThreads * kTurns + 1);
  EXPECT_EQ(shared_calls["read"], kThreads * kTurns);
  EXPECT_EQ(shared_calls["write"], kThreads * kTurns + 1);
  EXPECT_EQ(shared_calls["close"], kThreads * kTurns + 1);
  EXPECT_EQ(counted(path("stream"))["fputc"], kThreads * kTurns);
}

}  // namespace
}  // namespace dft::io
