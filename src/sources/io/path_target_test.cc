// SPDX-License-Identifier: MIT
#include "sources/io/path_target.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "record/emit.h"
#include "record/recorder.h"

namespace dft::io {
namespace {

std::string text_of(model::StringId id) {
  model::StringDef known;
  return record::recorder.definitions.string(id, known) ? std::string(known.bytes) : "";
}

class PathTargetTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(getcwd(before_, sizeof before_), nullptr);
    char name[] = "/tmp/dft-target-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    char real[PATH_MAX];
    ASSERT_NE(realpath(name, real), nullptr);
    folder_ = real;
    ASSERT_EQ(mkdir((folder_ + "/d").c_str(), 0700), 0);
    directory_.start();
    trace({"all"});
  }
  void TearDown() override {
    go(before_);
    EXPECT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0);
  }
  void go(const std::string& path) {
    ASSERT_EQ(chdir(path.c_str()), 0) << path;
    directory_.changed();
  }
  void trace(const std::vector<std::string_view>& includes) {
    ASSERT_TRUE(filter_.configure({includes.data(), includes.size()}, {}, false, {}));
    table_->start(filter_);
  }
  // The traced name; "-" when not traced.
  std::string target(int dir_fd, const std::string& path) {
    const PathTarget found = resolver_.target(dir_fd, path.c_str());
    EXPECT_EQ(found.traced, found.name != 0);
    return found.traced ? text_of(found.name) : "-";
  }
  char before_[PATH_MAX];
  std::string folder_;
  PathFilter filter_;
  WorkingDirectory directory_;
  std::unique_ptr<FdTable> table_ = std::make_unique<FdTable>();
  PathResolver resolver_{*table_, filter_, directory_};
};

TEST_F(PathTargetTest, AbsolutePathsDoNotDependOnAnyDirectory) {
  for (const int dir_fd : {AT_FDCWD, 0, 99999, -5}) {
    EXPECT_EQ(target(dir_fd, "/a/b"), "/a/b");
    EXPECT_EQ(target(dir_fd, "//a/./c/../b/"), "/a/b");
    EXPECT_EQ(target(dir_fd, "/"), "/");
    EXPECT_EQ(target(dir_fd, "/.hidden"), "/.hidden");
  }
}

TEST_F(PathTargetTest, RelativePathsAreBelowTheDirectoryOfTheMoment) {
  go(folder_);
  EXPECT_EQ(target(AT_FDCWD, "x"), folder_ + "/x");
  EXPECT_EQ(target(AT_FDCWD, "./d/../y"), folder_ + "/y");
  go(folder_ + "/d");
  EXPECT_EQ(target(AT_FDCWD, "x"), folder_ + "/d/x");
  EXPECT_EQ(target(AT_FDCWD, "../x"), folder_ + "/x");
  EXPECT_EQ(target(AT_FDCWD, "."), folder_ + "/d");
  go("/");
  EXPECT_EQ(target(AT_FDCWD, "x"), "/x");
  EXPECT_EQ(target(AT_FDCWD, ".."), "/");
}

TEST_F(PathTargetTest, AnyDirectoryDescriptorWorks) {
  const int flags[] = {O_RDONLY | O_DIRECTORY, O_PATH, O_RDONLY};
  for (const int flag : flags) {
    const int fd = open((folder_ + "/d").c_str(), flag);
    EXPECT_EQ(target(fd, "x"), folder_ + "/d/x");
    EXPECT_EQ(target(fd, "../x"), folder_ + "/x");
    EXPECT_EQ(target(fd, "."), folder_ + "/d");
    close(fd);
    table_->forget(fd);
  }
  const int root = open("/", O_PATH);
  EXPECT_EQ(target(root, "x"), "/x");
  close(root);
}

TEST_F(PathTargetTest, ADirectoryKeepsTheNameItWasOpenedBy) {
  const int fd = open((folder_ + "/d").c_str(), O_PATH);
  table_->set(fd, {record::string_id(model::StringKind::kFile, "/as/opened"), FdKind::kDirectory, true});
  EXPECT_EQ(target(fd, "x"), "/as/opened/x");
  close(fd);
}

TEST_F(PathTargetTest, NoWrongAbsoluteNameIsMadeUp) {
  EXPECT_EQ(target(99999, "x"), "x");
  EXPECT_EQ(target(-7, "../x"), "../x");
  const int file = open((folder_ + "/f").c_str(), O_CREAT | O_RDWR, 0600);
  EXPECT_EQ(target(file, ""), "-");
  int pair[2];
  ASSERT_EQ(pipe(pair), 0);
  EXPECT_EQ(target(pair[0], "x"), "x");
  trace({std::string_view(folder_)});
  EXPECT_EQ(target(99999, "x"), "-");
  for (const int fd : {file, pair[0], pair[1]}) close(fd);
}

TEST_F(PathTargetTest, NullAndEmptyPathsNameNothing) {
  EXPECT_FALSE(resolver_.target(AT_FDCWD, nullptr).traced);
  EXPECT_EQ(target(AT_FDCWD, ""), "-");
}

TEST_F(PathTargetTest, TheFilterSeesTheWholeName) {
  trace({std::string_view(folder_)});
  const int above = open("/tmp", O_PATH);
  const int usr = open("/usr", O_PATH);
  const int inside = open((folder_ + "/d").c_str(), O_PATH);
  const std::string last = folder_.substr(folder_.rfind('/') + 1);
  EXPECT_EQ(target(above, last + "/x"), folder_ + "/x");
  EXPECT_EQ(target(above, "other"), "-");
  EXPECT_EQ(target(usr, "x"), "-");
  EXPECT_EQ(target(usr, ".." + folder_ + "/x"), folder_ + "/x");
  EXPECT_EQ(target(inside, "x"), folder_ + "/d/x");
  EXPECT_EQ(target(inside, "../../x"), "-");
  EXPECT_EQ(target(AT_FDCWD, folder_ + "/../x"), "-");
  EXPECT_EQ(target(AT_FDCWD, folder_ + "x"), "-");
  for (const int fd : {above, usr, inside}) close(fd);
}

TEST_F(PathTargetTest, DirectoriesOpenedAsUntracedFilesAreKnownAfterOneLook) {
  trace({std::string_view(folder_)});
  const int above = open("/tmp", O_RDONLY);
  const int usr = open("/usr", O_RDONLY);
  const std::string last = folder_.substr(folder_.rfind('/') + 1);
  for (const int fd : {above, usr}) table_->set(fd, {0, FdKind::kFile, false});
  EXPECT_EQ(target(above, last + "/x"), folder_ + "/x");
  EXPECT_EQ(target(usr, "x"), "-");
  EXPECT_EQ(text_of(table_->find(above).name), "/tmp");
  EXPECT_FALSE(table_->find(above).traced);
  EXPECT_EQ(table_->find(usr).kind, FdKind::kDirectory);
  EXPECT_EQ(table_->find(usr).name, 0u);
  close(above);
  close(usr);
}

TEST_F(PathTargetTest, NamesOfOurOwnDescriptorsMeanTheirFiles) {
  const int fd = open((folder_ + "/f").c_str(), O_CREAT | O_RDWR, 0600);
  for (const char* before : {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/", "/proc/./self/fd//"}) {
    EXPECT_EQ(target(AT_FDCWD, before + std::to_string(fd)), folder_ + "/f") << before;
    EXPECT_EQ(target(AT_FDCWD, before + std::string("99999")), "-");
    EXPECT_EQ(target(AT_FDCWD, before + std::string("99999999999999999999")), "-");
    EXPECT_EQ(target(AT_FDCWD, before + std::to_string(fd) + "x"), "-");
    EXPECT_EQ(target(AT_FDCWD, before), "-");
  }
  table_->set(0, {record::string_id(model::StringKind::kFile, "/in"), FdKind::kFile, true});
  EXPECT_EQ(target(AT_FDCWD, "/dev/stdin"), "/in");
  EXPECT_EQ(target(AT_FDCWD, "/dev/null"), "-");
  close(fd);
}

TEST_F(PathTargetTest, LongestPathsAreWholeAndLongerOnesAreMarked) {
  go(folder_);
  std::string path;
  while (path.size() < PATH_MAX - 1) path += path.size() % 200 == 0 ? "/" : "x";
  EXPECT_EQ(target(AT_FDCWD, path), path);
  const std::string relative = path.substr(1);
  EXPECT_EQ(target(AT_FDCWD, relative), folder_ + "/" + relative);
  for (const std::size_t size : {std::size_t{PATH_MAX} + 1, std::size_t{100} * 1024}) {
    std::string longer = path;
    longer.resize(size, 'y');
    EXPECT_EQ(target(AT_FDCWD, longer), longer.substr(0, PATH_MAX - 1) + "...");
    EXPECT_EQ(target(AT_FDCWD, longer.substr(1)), folder_ + "/" + longer.substr(1, PATH_MAX - 1) + "...");
    EXPECT_EQ(target(99999, longer.substr(1)), longer.substr(1, PATH_MAX - 1) + "...");
  }
}

TEST_F(PathTargetTest, DirectoriesAndPathsThatTogetherExceedEverythingAreMarked) {
  std::string deep;
  while (deep.size() < 8000) deep += "/" + std::string(99, 'd');
  const int fd = open((folder_ + "/d").c_str(), O_PATH);
  table_->set(fd, {record::string_id(model::StringKind::kFile, deep), FdKind::kDirectory, true});
  const std::string name = target(fd, std::string(4000, 'x'));
  EXPECT_EQ(name.size(), kLongestName);
  EXPECT_EQ(name.substr(0, deep.size()), deep);
  EXPECT_EQ(name.substr(name.size() - 3), "...");
  table_->set(fd, {record::string_id(model::StringKind::kFile, deep + deep), FdKind::kDirectory, true});
  EXPECT_EQ(target(fd, "x"), "x");
  close(fd);
}

TEST_F(PathTargetTest, EveryLengthAroundTheSmallMemoryGivesTheSameName) {
  go(folder_);
  for (std::size_t size = 900; size < 1100; ++size) {
    const std::string path(size, 'x');
    ASSERT_EQ(target(AT_FDCWD, path), folder_ + "/" + path);
    ASSERT_EQ(target(AT_FDCWD, "/./" + path), "/" + path);
  }
}

TEST_F(PathTargetTest, UntracedPathsAreNotKept) {
  trace({"/nowhere"});
  EXPECT_EQ(target(AT_FDCWD, "/never/seen/before"), "-");
  const model::StringId before = record::string_id(model::StringKind::kFile, "/marks/the/end/1");
  EXPECT_EQ(target(AT_FDCWD, "/never/seen/again"), "-");
  EXPECT_EQ(target(AT_FDCWD, "never/../seen"), "-");
  EXPECT_EQ(record::string_id(model::StringKind::kFile, "/marks/the/end/2"), before + 1);
}

TEST_F(PathTargetTest, ErrnoStaysAsItWas) {
  errno = 77;
  resolver_.target(99999, "x");
  resolver_.target(AT_FDCWD, "x");
  resolver_.target(AT_FDCWD, "/proc/self/fd/99999");
  EXPECT_EQ(errno, 77);
}

}  // namespace
}  // namespace dft::io
