// SPDX-License-Identifier: MIT
#include "sources/io/path_name.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace dft::io {
namespace {

std::string normal(std::string_view path, std::size_t capacity = kLongestName) {
  std::string memory(capacity, '#');
  NameWriter name(memory.data(), capacity);
  name.add(path);
  return std::string(name.view());
}

// The rule once more, slowly: a list of components.
std::string expected_normal(const std::string& path) {
  std::vector<std::string> components;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = path.find('/', at);
    if (end == std::string::npos) end = path.size();
    const std::string component = path.substr(at, end - at);
    at = end + 1;
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      components.push_back(component);
    } else if (!components.empty()) {
      components.pop_back();
    }
  }
  std::string name;
  for (const std::string& component : components) name += "/" + component;
  return name.empty() ? "/" : name;
}

TEST(PathName, NormalisesEverySpelling) {
  EXPECT_EQ(normal("/"), "/");
  EXPECT_EQ(normal("//"), "/");
  EXPECT_EQ(normal("/a/"), "/a");
  EXPECT_EQ(normal("//a///b//"), "/a/b");
  EXPECT_EQ(normal("/a/./b/."), "/a/b");
  EXPECT_EQ(normal("/a/../b"), "/b");
  EXPECT_EQ(normal("/../../a"), "/a");
  EXPECT_EQ(normal("/a/b/../../.."), "/");
  EXPECT_EQ(normal("/a/.../..b/.c/d.."), "/a/.../..b/.c/d..");
  EXPECT_EQ(normal("/.hidden"), "/.hidden");
  EXPECT_EQ(normal("/a\xff\n/b"), "/a\xff\n/b");
}

TEST(PathName, AgreesWithTheSlowRuleOnRandomPaths) {
  std::mt19937 random(7);
  const char* pieces[] = {"/", "//", ".", "..", "a", "bc", ".x", "/../", "/./", "longer-name", "x."};
  for (int round = 0; round < 20'000; ++round) {
    std::string path = "/";
    for (auto count = random() % 12; count != 0; --count) path += pieces[random() % std::size(pieces)];
    ASSERT_EQ(normal(path), expected_normal(path)) << path;
    if (plainly_normal(path)) {
      ASSERT_EQ(expected_normal(path), path);
    }
  }
}

TEST(PathName, PlainPathsAreRecognisedAtEveryLengthAndOffset) {
  for (std::size_t size = 1; size < 40; ++size) {
    std::string path = "/" + std::string(size, 'a');
    ASSERT_TRUE(plainly_normal(path)) << path;
    for (std::size_t at = 1; at + 1 < path.size(); ++at) {
      std::string inner = path;
      inner[at] = '/';
      ASSERT_TRUE(at == 1 ? !plainly_normal(inner) : plainly_normal(inner)) << inner;
      inner[at + 1] = '/';
      ASSERT_FALSE(plainly_normal(inner)) << inner;
      inner[at + 1] = '.';
      ASSERT_FALSE(plainly_normal(inner)) << inner;
    }
    ASSERT_FALSE(plainly_normal(path + "/"));
  }
  EXPECT_TRUE(plainly_normal("/"));
  EXPECT_FALSE(plainly_normal(""));
  EXPECT_FALSE(plainly_normal("a/b"));
  EXPECT_FALSE(plainly_normal("//"));
}

TEST(PathName, NamesThatDoNotFitAreCutWithAMarkAndNothingIsWrittenBehind) {
  const std::string path = "/" + std::string(100, 'a') + "/" + std::string(200, 'b');
  for (std::size_t capacity = 4; capacity < 320; ++capacity) {
    std::string memory(capacity + 16, '#');
    NameWriter name(memory.data(), capacity);
    name.add(path);
    ASSERT_EQ(name.cut(), capacity < path.size() + kCutMark.size());
    ASSERT_LE(name.view().size(), capacity);
    ASSERT_EQ(memory.substr(capacity), std::string(16, '#'));
    if (!name.cut()) {
      ASSERT_EQ(name.view(), path);
      continue;
    }
    ASSERT_EQ(name.view().substr(name.view().size() - 3), "...");
    name.add("more");
    name.mark_cut();
    ASSERT_EQ(memory.substr(capacity), std::string(16, '#'));
  }
}

TEST(PathText, ReadsNoFurtherThanTheKernelWould) {
  // A page of bytes without an end, and nothing mapped behind it: the kernel says ENAMETOOLONG.
  const auto page = static_cast<std::size_t>(getpagesize());
  char* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  memset(memory, 'a', page);
  ASSERT_EQ(munmap(memory + page, page), 0);
  const PathText text = path_text(memory + page - PATH_MAX);
  EXPECT_FALSE(text.whole);
  EXPECT_EQ(text.bytes.size(), PATH_MAX - 1u);
  munmap(memory, page);
}

TEST(PathText, KnowsNullEmptyAndLongPaths) {
  EXPECT_TRUE(path_text(nullptr).whole);
  EXPECT_TRUE(path_text(nullptr).bytes.empty());
  EXPECT_TRUE(path_text("").bytes.empty());
  const std::string longest(PATH_MAX - 1, 'a');
  EXPECT_TRUE(path_text(longest.c_str()).whole);
  EXPECT_EQ(path_text(longest.c_str()).bytes, longest);
  EXPECT_FALSE(path_text((longest + "a").c_str()).whole);
  EXPECT_FALSE(path_text(std::string(100 * 1024, 'a').c_str()).whole);
}

// A folder of its own and the way back.
class WorkingDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = here();
    char name[] = "/tmp/dft-cwd-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    go(folder_);
    folder_ = here();  // as the kernel calls it
    directory_.start();
  }
  void TearDown() override {
    go(before_);
    const std::string command = "rm -rf '" + folder_ + "'";
    EXPECT_EQ(system(command.c_str()), 0);
  }
  static std::string here() {
    char name[PATH_MAX];
    return getcwd(name, sizeof name) != nullptr ? name : "";
  }
  static void go(const std::string& path) { ASSERT_EQ(chdir(path.c_str()), 0) << path; }
  std::string read(std::size_t capacity = PATH_MAX + 8) {
    std::string memory(capacity, '#');
    return memory.substr(0, directory_.read(memory.data(), capacity));
  }
  std::string before_;
  std::string folder_;
  WorkingDirectory directory_;
};

TEST_F(WorkingDirectoryTest, IsThatOfTheMomentAfterEveryChange) {
  EXPECT_EQ(read(), folder_);
  for (int i = 0; i < 20; ++i) {
    const std::string name = folder_ + "/" + std::string(static_cast<std::size_t>(1 + i), 'd');
    ASSERT_EQ(mkdir(name.c_str(), 0700), 0);
    go(name);
    directory_.changed();
    EXPECT_EQ(read(), name);
    EXPECT_EQ(read(), name);
  }
  go("/");
  directory_.changed();
  EXPECT_EQ(read(), "/");
}

TEST_F(WorkingDirectoryTest, IsAskedOfTheKernelOnlyAfterAChange) {
  EXPECT_EQ(read(), folder_);
  go("/");  // nobody said so
  EXPECT_EQ(read(), folder_);
  directory_.changed();
  EXPECT_EQ(read(), "/");
}

TEST_F(WorkingDirectoryTest, NeverCachedItFollowsUnreportedChanges) {
  EXPECT_EQ(read(), folder_);
  directory_.never_cache();
  go("/");
  EXPECT_EQ(read(), "/");
  go(folder_);
  EXPECT_EQ(read(), folder_);
}

TEST_F(WorkingDirectoryTest, RemovedDirectoriesKeepTheirName) {
  const std::string name = folder_ + "/gone";
  ASSERT_EQ(mkdir(name.c_str(), 0700), 0);
  go(name);
  ASSERT_EQ(rmdir(name.c_str()), 0);
  directory_.changed();
  EXPECT_EQ(read(), name);
}

TEST_F(WorkingDirectoryTest, UnknownWhenDeeperThanTheKernelTells) {
  const std::string name(250, 'd');
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(mkdir(name.c_str(), 0700), 0);
    go(name);
  }
  directory_.changed();
  EXPECT_EQ(read(), "");
}

TEST_F(WorkingDirectoryTest, SaysNothingRatherThanOverflow) {
  for (const bool cached : {false, true}) {
    if (cached) {
      EXPECT_EQ(read(), folder_);
    }
    std::string memory(64, '#');
    EXPECT_EQ(directory_.read(memory.data(), folder_.size()), 0u);
    EXPECT_EQ(memory.substr(folder_.size()), std::string(64 - folder_.size(), '#'));
    directory_.changed();
  }
}

TEST_F(WorkingDirectoryTest, AChildThatSharesMemoryLeavesTheParentsCacheAlone) {
  EXPECT_EQ(read(), folder_);
  // As after vfork: shared memory, a directory of its own.
  auto* shared = static_cast<WorkingDirectory*>(
      mmap(nullptr, sizeof(WorkingDirectory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  ::new (shared) WorkingDirectory;
  shared->start();
  char memory[PATH_MAX + 8];
  ASSERT_EQ(shared->read(memory, sizeof memory), folder_.size());
  const pid_t child = fork();
  if (child == 0) {
    if (chdir("/") != 0) _exit(2);
    shared->changed();
    _exit(shared->read(memory, sizeof memory) == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::string(memory, shared->read(memory, sizeof memory)), folder_);
  munmap(shared, sizeof *shared);
}

// Names of the greatest length, so that a reader is likely to be in the middle of one when it changes.
TEST_F(WorkingDirectoryTest, RacingReadersSeeWholeNamesOnly) {
  std::string names[3];
  for (int i = 0; i < 3; ++i) {
    names[i] = folder_;
    while (names[i].size() < 3500u + 100u * static_cast<unsigned>(i)) {
      names[i] += "/" + std::string(200, static_cast<char>('a' + i));
      ASSERT_EQ(mkdir(names[i].c_str(), 0700), 0);
    }
  }
  go(names[0]);
  directory_.changed();
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      char memory[PATH_MAX + 8];
      while (!done.load()) {
        const std::string_view name(memory, directory_.read(memory, sizeof memory));
        if (name != names[0] && name != names[1] && name != names[2]) wrong.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 10'000; ++i) {
    const std::string& name = names[i % 3];
    if (chdir(name.c_str()) != 0) wrong.fetch_add(1);
    directory_.changed();
    if (read() != name) wrong.fetch_add(1);  // the thread that changed it sees its own change
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace dft::io
