// SPDX-License-Identifier: MIT
#include "sources/io/path_filter.h"

#include <gtest/gtest.h>
#include <limits.h>
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

using Paths = std::vector<std::string_view>;

std::unique_ptr<PathFilter> filter(const Paths& includes, const Paths& excludes = {}, bool all = false,
                                   std::string_view own = "/traces/run") {
  auto made = std::make_unique<PathFilter>();
  EXPECT_TRUE(made->configure({includes.data(), includes.size()}, {excludes.data(), excludes.size()}, all, own));
  return made;
}

TEST(PathFilter, MatchesWholeComponents) {
  const auto f = filter({"/data"});
  EXPECT_TRUE(f->traces("/data"));
  EXPECT_TRUE(f->traces("/data/x"));
  EXPECT_TRUE(f->traces("/data/x/y/z"));
  EXPECT_FALSE(f->traces("/database"));
  EXPECT_FALSE(f->traces("/dat"));
  EXPECT_FALSE(f->traces("/"));
  EXPECT_FALSE(f->traces("/x/data/y"));
  EXPECT_FALSE(f->traces(""));
  EXPECT_FALSE(f->traces("data/x"));
}

TEST(PathFilter, NestedIncludesDoNotBreakTheOuterOne) {
  const auto f = filter({"/a", "/a/b/c"});
  EXPECT_TRUE(f->traces("/a/b/x"));
  EXPECT_TRUE(f->traces("/a/b"));
  EXPECT_TRUE(f->traces("/a/b/c/d"));
}

TEST(PathFilter, TheLongestEntryDecides) {
  const auto f = filter({"/a", "/a/b/c"}, {"/a/b", "/a/b/c/d"});
  EXPECT_TRUE(f->traces("/a/x"));
  EXPECT_FALSE(f->traces("/a/b"));
  EXPECT_FALSE(f->traces("/a/b/x"));
  EXPECT_TRUE(f->traces("/a/b/c"));
  EXPECT_TRUE(f->traces("/a/b/c/x"));
  EXPECT_FALSE(f->traces("/a/b/c/d"));
  EXPECT_FALSE(f->traces("/a/b/c/d/x"));
  EXPECT_TRUE(f->traces("/a/bb"));
}

TEST(PathFilter, ExcludeWinsForTheSamePath) {
  EXPECT_FALSE(filter({"/a"}, {"/a"})->traces("/a/x"));
  EXPECT_FALSE(filter({"all"}, {"/"})->traces("/a/x"));
}

TEST(PathFilter, AllTracesEverythingButTheExclusions) {
  for (const auto& f : {filter({"all"}, {"/home/me/cache/"}), filter({}, {"/home/me/cache"}, true)}) {
    EXPECT_TRUE(f->traces_everything());
    EXPECT_TRUE(f->traces("/home/me/x"));
    EXPECT_FALSE(f->traces("/home/me/cache/x"));
    EXPECT_TRUE(f->traces("/"));
    EXPECT_TRUE(f->traces("relative/of/unknown/place"));
  }
  EXPECT_FALSE(filter({"/all"})->traces_everything());
  EXPECT_FALSE(filter({"/all"})->traces("/x"));
}

TEST(PathFilter, NothingIsTracedBeforeItIsConfiguredOrWithoutEntries) {
  const PathFilter unconfigured;
  EXPECT_FALSE(unconfigured.traces("/a"));
  EXPECT_FALSE(unconfigured.traces_everything());
  EXPECT_FALSE(filter({})->traces("/a"));
  EXPECT_FALSE(filter({""})->traces("/a"));
}

TEST(PathFilter, SystemFilesAreLeftOutButSharedMemoryIsNot) {
  for (const auto& f : {filter({"all"}), filter({"/"})}) {
    EXPECT_FALSE(f->traces("/proc/self/maps"));
    EXPECT_FALSE(f->traces("/sys"));
    EXPECT_FALSE(f->traces("/dev/null"));
    EXPECT_FALSE(f->traces("/dev"));
    EXPECT_TRUE(f->traces("/dev/shm/x"));
    EXPECT_TRUE(f->traces("/dev/shm"));
    EXPECT_TRUE(f->traces("/process"));
    EXPECT_TRUE(f->traces("/home/proc/x"));
  }
  EXPECT_FALSE(filter({"/data"})->traces("/dev/shm/x"));
  EXPECT_FALSE(filter({"all"}, {"/dev/shm"})->traces("/dev/shm/x"));
  EXPECT_FALSE(filter({"all"}, {"/dev"})->traces("/dev/shm/x"));
  EXPECT_TRUE(filter({"/dev/shm"})->traces("/dev/shm/x"));
  EXPECT_FALSE(filter({"/dev/shm"})->traces("/dev/null"));
}

TEST(PathFilter, TheUsersWordOutweighsTheBuiltInList) {
  const auto f = filter({"/dev", "/proc/self/io", "/sys/class"});
  EXPECT_TRUE(f->traces("/dev/null"));
  EXPECT_TRUE(f->traces("/dev/shm/x"));
  EXPECT_TRUE(f->traces("/proc/self/io"));
  EXPECT_FALSE(f->traces("/proc/self/maps"));
  EXPECT_TRUE(f->traces("/sys/class/net"));
  EXPECT_FALSE(f->traces("/sys/kernel"));
}

TEST(PathFilter, SharedObjectsAreLeftOutUnlessNamed) {
  const auto f = filter({"all", "/data/model.so"});
  for (const char* path : {"/lib/libc.so.6", "/lib/x.so", "/opt/x.so.1.2.30", "/p/m.cpython-311-x86_64-linux-gnu.so"}) {
    EXPECT_FALSE(f->traces(path)) << path;
  }
  for (const char* path : {"/d/x.sort", "/d/so", "/d/xso", "/d/so.6", "/d/x.so.txt", "/d/x.so.", "/d/x.so6", "/x.so/y",
                           "/d/5", "/d/..5", "/data/model.so"}) {
    EXPECT_TRUE(f->traces(path)) << path;
  }
}

TEST(PathFilter, OurOwnTracesAreLeftOutAndOthersAreNot) {
  const auto f = filter({"all"}, {}, false, "/traces/run");
  for (const char* ending : {".pfw", ".pfw.gz", ".dfi", ".dfcrash"}) {
    EXPECT_FALSE(f->traces(std::string("/traces/run-0123-app") + ending)) << ending;
    EXPECT_TRUE(f->traces(std::string("/traces/other") + ending)) << ending;
  }
  EXPECT_TRUE(f->traces("/traces/run-0123-app.txt"));
  EXPECT_FALSE(filter({"/traces/run-1.pfw"})->traces("/traces/run-1.pfw"));
  EXPECT_FALSE(filter({"all"}, {}, false, "")->traces("/elsewhere/x.pfw.gz"));
}

TEST(PathFilter, EntriesAreNormalised) {
  for (const char* entry : {"/data/", "//data", "/./data/.", "/x/../data", "/../data//"}) {
    const auto f = filter({entry});
    EXPECT_TRUE(f->traces("/data/x")) << entry;
    EXPECT_FALSE(f->traces("/x/y")) << entry;
  }
  EXPECT_TRUE(filter({"/"})->traces("/anything"));
}

TEST(PathFilter, SaysWhereSomethingBelowMayBeTraced) {
  const auto f = filter({"/a/b/c"}, {"/a/b/c/d"});
  EXPECT_TRUE(f->look("/").below);
  EXPECT_TRUE(f->look("/a").below);
  EXPECT_FALSE(f->look("/a").traced);
  EXPECT_TRUE(f->look("/a/b/c").below);
  EXPECT_FALSE(f->look("/a/x").below);
  EXPECT_FALSE(f->look("/usr").below);
  EXPECT_FALSE(f->look("/a/b/c/d").below);
  EXPECT_TRUE(filter({"all"})->look("/dev").below);
  EXPECT_FALSE(filter({"all"})->look("/proc").below);
}

TEST(PathFilter, LongNamesAndManyEntriesAreNoDifferent) {
  const std::string deep = "/data/" + std::string(100 * 1024, 'x');
  EXPECT_TRUE(filter({"/data"})->traces(deep));
  EXPECT_FALSE(filter({"/other"})->traces(deep));
  EXPECT_FALSE(filter({"/data"}, {std::string_view(deep)})->traces("/other/y"));  // an entry too long to be a name
  std::vector<std::string> many;
  for (int i = 0; i < 2000; ++i) many.push_back("/set/number" + std::to_string(i) + "/data");
  const Paths entries(many.begin(), many.end());
  const auto f = filter(entries);
  for (const std::string& path : many) {
    ASSERT_TRUE(f->traces(path + "/x"));
    ASSERT_FALSE(f->traces(path.substr(0, path.rfind('/')) + "/other"));
  }
}

// Longest match, the slow way.
bool expected(const Paths& includes, const Paths& excludes, const std::string& path) {
  std::size_t best = 0;
  bool traced = false;
  const auto covers = [&](std::string_view entry) {
    return path == entry || path.compare(0, entry.size() + 1, std::string(entry) + "/") == 0;
  };
  for (const std::string_view entry : includes) {
    if (covers(entry) && entry.size() > best) best = entry.size(), traced = true;
  }
  for (const std::string_view entry : excludes) {
    if (covers(entry) && entry.size() >= best) best = entry.size(), traced = false;
  }
  return traced;
}

TEST(PathFilter, AgreesWithTheSlowRuleOnRandomLists) {
  std::mt19937 random(11);
  const auto any_path = [&] {
    std::string path;
    const char* names[] = {"a", "b", "ab", "aa", "nowhere-to-be-found"};
    for (auto depth = 1 + random() % 5; depth != 0; --depth) path += std::string("/") + names[random() % 5];
    return path;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 12; ++i) texts.push_back(any_path());
    const Paths includes(texts.begin(), texts.begin() + 7);
    const Paths excludes(texts.begin() + 7, texts.end());
    const auto f = filter(includes, excludes);
    for (int i = 0; i < 200; ++i) {
      const std::string path = any_path();
      ASSERT_EQ(f->traces(path), expected(includes, excludes, path)) << path;
    }
  }
}

class PathFilterInFolder : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(getcwd(before_, sizeof before_), nullptr);
    char name[] = "/tmp/dft-filter-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    char real[PATH_MAX];
    ASSERT_NE(realpath(name, real), nullptr);
    folder_ = real;
    ASSERT_EQ(mkdir((folder_ + "/d").c_str(), 0700), 0);
    ASSERT_EQ(symlink("d", (folder_ + "/link").c_str()), 0);
  }
  void TearDown() override {
    ASSERT_EQ(chdir(before_), 0);
    unlink((folder_ + "/link").c_str());
    rmdir((folder_ + "/d").c_str());
    rmdir(folder_.c_str());
  }
  char before_[PATH_MAX];
  std::string folder_;
};

TEST_F(PathFilterInFolder, RelativeEntriesAreBelowTheDirectoryOfTheStart) {
  ASSERT_EQ(chdir((folder_ + "/d").c_str()), 0);
  for (const char* entry : {"./", ".", "../d", "../d/.", "x/.."}) {
    EXPECT_TRUE(filter({entry})->traces(folder_ + "/d/x")) << entry;
    EXPECT_FALSE(filter({entry})->traces(folder_ + "/other")) << entry;
  }
  EXPECT_TRUE(filter({"sub"})->traces(folder_ + "/d/sub/x"));
}

TEST_F(PathFilterInFolder, EntriesCountUnderTheirRealNamesToo) {
  const std::string link = folder_ + "/link";
  for (const std::string& below : {std::string(), std::string("/made/later")}) {
    const auto f = filter({std::string_view(link + below)});
    EXPECT_TRUE(f->traces(folder_ + "/link" + below + "/x"));
    EXPECT_TRUE(f->traces(folder_ + "/d" + below + "/x"));
    EXPECT_FALSE(f->traces(folder_ + "/x"));
  }
  EXPECT_FALSE(filter({"all"}, {std::string_view(link)})->traces(folder_ + "/d/x"));
  const std::string own = link + "/run";
  EXPECT_FALSE(filter({"all"}, {}, false, own)->traces(folder_ + "/d/run-1.pfw.gz"));
  EXPECT_FALSE(filter({"all"}, {}, false, own)->traces(folder_ + "/link/run-1.pfw.gz"));
}

TEST(PathFilter, CountsSoThatARunWithoutAMatchCanSaySo) {
  const auto f = filter({"/data"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) f->count(f->traces("/usr/x"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(f->filtered(), 4000u);
  EXPECT_FALSE(f->any_traced());
  f->count(f->traces("/data/x"));
  EXPECT_TRUE(f->any_traced());
  EXPECT_EQ(f->filtered(), 4000u);
  f->reset_counts();
  EXPECT_FALSE(f->any_traced());
  EXPECT_EQ(f->filtered(), 0u);
}

TEST(PathFilter, ForkedChildrenInheritTheRules) {
  const auto f = filter({"/data"});
  const pid_t child = fork();
  if (child == 0) _exit(f->traces("/data/x") && !f->traces("/y") ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(PathFilter, CanBeReplacedWhileOthersRead) {
  const auto f = filter({"/data", "/a"});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!done.load()) {
      if (!f->traces("/data/x") || f->traces("/c/x")) wrong.fetch_add(1);
    }
  });
  const std::string_view one[] = {"/data", "/a"};
  const std::string_view other[] = {"/data", "/b"};
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(f->configure({i % 2 != 0 ? one : other, 2}, {}, false, {}));
  done.store(true);
  reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace dft::io
