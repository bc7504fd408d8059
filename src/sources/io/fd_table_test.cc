// SPDX-License-Identifier: MIT
#include "sources/io/fd_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "record/emit.h"
#include "record/recorder.h"
#include "sources/io/path_filter.h"

namespace dft::io {
namespace {

std::string text_of(model::StringId id) {
  model::StringDef known;
  return record::recorder.definitions.string(id, known) ? std::string(known.bytes) : "";
}
FdEntry file_entry(const std::string& name) {
  return {record::string_id(model::StringKind::kFile, name), FdKind::kFile, true};
}
bool operator==(const FdEntry& a, const FdEntry& b) {
  return a.name == b.name && a.kind == b.kind && a.traced == b.traced;
}

class FdTableTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/dft-fdtable-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    char real[PATH_MAX];
    ASSERT_NE(realpath(name, real), nullptr);
    folder_ = real;
    trace({"all"});
  }
  void TearDown() override { EXPECT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0); }
  void trace(const std::vector<std::string_view>& includes) {
    ASSERT_TRUE(filter_.configure({includes.data(), includes.size()}, {}, false, {}));
    table_->start(filter_);
  }
  int make(const std::string& name) const { return open((folder_ + name).c_str(), O_CREAT | O_RDWR, 0600); }
  std::string name(int fd) { return text_of(table_->find(fd).name); }
  std::string folder_;
  PathFilter filter_;
  std::unique_ptr<FdTable> table_ = std::make_unique<FdTable>();
};

TEST_F(FdTableTest, WhatWasSetIsFoundForEveryNumber) {
  const int numbers[] = {0, 1, 1023, 1024, 1025, 65535, 65536, 1 << 20, INT_MAX - 1, INT_MAX};
  for (const int fd : numbers) table_->set(fd, {static_cast<model::StringId>(fd) + 7u, FdKind::kFile, true});
  for (const int fd : numbers) {
    EXPECT_EQ(table_->find(fd).name, static_cast<model::StringId>(fd) + 7u) << fd;
    EXPECT_TRUE(table_->find(fd).traced) << fd;
  }
}

TEST_F(FdTableTest, EveryFieldComesBack) {
  for (int kind = 0; kind <= static_cast<int>(FdKind::kOther); ++kind) {
    for (const bool traced : {false, true}) {
      const FdEntry entry{0xffffffffu, static_cast<FdKind>(kind), traced};
      table_->set(70000, entry);
      EXPECT_TRUE(table_->find(70000) == entry) << kind;
    }
  }
}

TEST_F(FdTableTest, NumbersThatCannotBeOpenAreNothing) {
  for (const int fd : {-1, AT_FDCWD, INT_MIN, INT_MAX, 1'000'000}) {
    table_->forget(fd);
    table_->closed(fd);
    EXPECT_TRUE(table_->find(fd) == (FdEntry{0, FdKind::kOther, false})) << fd;
  }
  table_->set(-1, file_entry("/x"));
  EXPECT_EQ(table_->find(-1).name, 0u);
}

TEST_F(FdTableTest, UnseenDescriptorsAreLookedUpAndKeepTheNameTheyHadThen) {
  const int fd = make("/x");
  EXPECT_EQ(name(fd), folder_ + "/x");
  ASSERT_EQ(rename((folder_ + "/x").c_str(), (folder_ + "/y").c_str()), 0);
  EXPECT_EQ(name(fd), folder_ + "/x");
  ASSERT_EQ(unlink((folder_ + "/y").c_str()), 0);
  EXPECT_EQ(name(fd), folder_ + "/x");
  table_->forget(fd);
  EXPECT_EQ(name(fd), folder_ + "/y");
  close(fd);
}

TEST_F(FdTableTest, AForgottenNumberNeverKeepsTheLastName) {
  const int fd = make("/old");
  table_->set(fd, file_entry(folder_ + "/old"));
  table_->forget(fd);
  close(fd);
  EXPECT_TRUE(table_->find(fd) == (FdEntry{0, FdKind::kOther, false}));
  ASSERT_EQ(make("/new"), fd);  // as by a raw openat2
  EXPECT_EQ(name(fd), folder_ + "/new");
  close(fd);
}

TEST_F(FdTableTest, WhatWasLookedUpWhileItWasBeingClosedDoesNotStay) {
  const int fd = make("/old");
  table_->forget(fd);
  EXPECT_EQ(name(fd), folder_ + "/old");  // another thread, too late
  close(fd);
  table_->closed(fd);
  ASSERT_EQ(make("/new"), fd);
  EXPECT_EQ(name(fd), folder_ + "/new");
  close(fd);
}

// Every call that another thread may put into the middle of a look-up: its answer must not stay.
TEST_F(FdTableTest, ALookThatWasOvertakenIsNotRemembered) {
  const FdEntry stale = file_entry("/stale");
  for (const int fd : {800, 70000}) {
    const auto look_around = [&](auto change) {
      table_->forget(fd);
      const std::uint64_t ticket = table_->begin_look(fd);
      change();
      table_->end_look(fd, ticket, stale);
      return name(fd);
    };
    EXPECT_EQ(look_around([] {}), "/stale") << "the test does not do what it says";
    EXPECT_EQ(look_around([&] { table_->forget(fd); }), "");
    EXPECT_EQ(look_around([&] { table_->closed(fd); }), "");
    EXPECT_EQ(look_around([&] { table_->forget_range(0, ~0u); }), "");
    EXPECT_EQ(look_around([&] { table_->closed_range(0, ~0u); }), "");
    EXPECT_EQ(look_around([&] { table_->set(fd, file_entry("/new")); }), "/new");
    EXPECT_EQ(look_around([&] {
                table_->set(fd, file_entry("/new"));
                table_->forget(fd);
              }),
              "");
    EXPECT_EQ(look_around([&] {
                table_->forget(fd);
                table_->begin_look(fd);  // a third thread looks by now
              }),
              "");
  }
}

TEST_F(FdTableTest, ALookThatWasOvertakenTwiceIsNotTakenForALaterOne) {
  table_->set(801, file_entry("/first"));
  table_->forget(801);
  const std::uint64_t ticket = table_->begin_look(801);
  table_->set(801, file_entry("/second"));
  table_->forget(801);
  table_->begin_look(801);  // another thread's look at what is there now
  table_->end_look(801, ticket, file_entry("/stale"));
  EXPECT_EQ(name(801), "");
}

TEST_F(FdTableTest, AnOpenOfTheNumberBeforeTheCloserIsDoneKeepsItsEntry) {
  table_->forget(50);
  table_->set(50, file_entry("/new"));  // another thread got the number
  table_->closed(50);
  EXPECT_EQ(name(50), "/new");
  table_->closed_range(0, ~0u);
  EXPECT_EQ(name(50), "/new");
}

TEST_F(FdTableTest, DuplicatesNameTheSameFile) {
  const int fd = make("/x");
  table_->set(fd, file_entry("/as/it/was/opened"));
  table_->copy(fd, 60);
  table_->copy(fd, 70000);
  table_->copy(fd, fd);
  table_->forget(fd);
  EXPECT_EQ(name(60), "/as/it/was/opened");
  EXPECT_EQ(name(70000), "/as/it/was/opened");
  table_->copy(fd, 61);  // not seen before: looked up
  table_->forget(fd);
  EXPECT_EQ(name(61), folder_ + "/x");
  close(fd);
}

TEST_F(FdTableTest, ADuplicateOfWhatIsGoneByNowIsLookedUpByItself) {
  const int fd = make("/x");
  table_->set(fd, file_entry("/stale"));
  table_->copy(99999, fd);
  EXPECT_EQ(name(fd), folder_ + "/x");
  close(fd);
}

TEST_F(FdTableTest, RangesForgetExactlyTheirNumbers) {
  const unsigned numbers[] = {2, 3, 4, 1023, 1024, 65535, 65536, 65537, INT_MAX};
  const unsigned ranges[][2] = {{3, 4},   {3, 3},         {1024, 65536}, {1023, ~0u},
                                {0, ~0u}, {65536, 65536}, {5, 4},        {INT_MAX, ~0u}};
  for (const auto& range : ranges) {
    for (const unsigned fd : numbers) table_->set(static_cast<int>(fd), file_entry("/x"));
    table_->forget_range(range[0], range[1]);
    for (const unsigned fd : numbers) {
      const bool inside = fd >= range[0] && fd <= range[1];
      EXPECT_EQ(name(static_cast<int>(fd)) != "/x", inside) << fd << " in " << range[0] << ".." << range[1];
    }
  }
}

TEST_F(FdTableTest, StartMakesEverythingUnseen) {
  table_->set(200, file_entry("/x"));
  table_->start(filter_);
  EXPECT_EQ(table_->find(200).name, 0u);
}

TEST_F(FdTableTest, TheFilterDecidesAndIsTold) {
  trace({std::string_view(folder_)});
  filter_.reset_counts();
  const int null = open("/dev/null", O_RDONLY);
  EXPECT_TRUE(table_->find(null) == (FdEntry{0, FdKind::kOther, false}));
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_FALSE(table_->find(pair[0]).traced);
  EXPECT_FALSE(table_->find(pair[0]).traced);
  EXPECT_EQ(filter_.filtered(), 2u);
  EXPECT_FALSE(filter_.any_traced());
  const int fd = make("/x");
  EXPECT_TRUE(table_->find(fd).traced);
  EXPECT_TRUE(filter_.any_traced());
  trace({"all"});
  EXPECT_TRUE(table_->find(pair[0]).traced);
  EXPECT_EQ(table_->find(pair[0]).kind, FdKind::kSocket);
  EXPECT_EQ(name(pair[0]).substr(0, 8), "socket:[");
  EXPECT_FALSE(table_->find(null).traced);
  for (const int open : {null, pair[0], pair[1], fd}) close(open);
}

TEST_F(FdTableTest, DirectoriesAboveTracedOnesHaveANameWithoutBeingTraced) {
  trace({std::string_view(folder_)});
  const int tmp = open("/tmp", O_RDONLY | O_DIRECTORY);
  const int usr = open("/usr", O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(name(tmp), "/tmp");
  EXPECT_FALSE(table_->find(tmp).traced);
  EXPECT_TRUE(table_->find(usr) == (FdEntry{0, FdKind::kDirectory, false}));
  close(tmp);
  close(usr);
}

TEST_F(FdTableTest, ErrnoStaysAsItWas) {
  errno = 77;
  table_->find(99999);
  table_->set(70000, file_entry("/x"));
  table_->forget_range(0, ~0u);
  EXPECT_EQ(errno, 77);
}

TEST_F(FdTableTest, RefiningLosesAgainstEveryChange) {
  const FdEntry untraced{0, FdKind::kFile, false};
  const FdEntry directory{0, FdKind::kDirectory, false};
  table_->set(40, untraced);
  table_->refine(40, untraced, directory);
  EXPECT_TRUE(table_->find(40) == directory);
  table_->set(40, file_entry("/x"));
  table_->refine(40, directory, untraced);
  EXPECT_EQ(name(40), "/x");
}

// Each thread opens, uses and closes; the numbers are shared by all. A thread must always find its own file.
TEST_F(FdTableTest, ThreadsThatReuseEachOthersNumbersFindTheirOwnFiles) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const std::string own = "/thread" + std::to_string(t);
      const FdEntry entry = file_entry(folder_ + own);
      for (int i = 0; i < 1500; ++i) {
        const int fd = make(own);
        if (i % 3 != 0) table_->set(fd, entry);  // else as opened by a raw call
        if (table_->find(fd).name != entry.name) wrong.fetch_add(1);
        const int twin = dup(fd);
        table_->copy(fd, twin);
        table_->forget(fd);
        close(fd);
        table_->closed(fd);
        if (table_->find(twin).name != entry.name) wrong.fetch_add(1);
        table_->forget(twin);
        close(twin);
        table_->closed(twin);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

// Two threads look at a number all the time, as buggy programs do, while a third opens and closes it.
TEST_F(FdTableTest, SpyingThreadsCannotMakeAStaleNameStay) {
  constexpr int kNumber = 900;
  std::atomic<bool> done{false};
  std::vector<std::thread> spies;
  for (int i = 0; i < 2; ++i) {
    spies.emplace_back([&] {
      while (!done.load()) table_->find(kNumber);
    });
  }
  int wrong = 0;
  const int files[] = {make("/a"), make("/b")};
  for (int i = 0; i < 3000; ++i) {
    const int which = i % 2;
    if (dup2(files[which], kNumber) != kNumber) ++wrong;  // the table does not know: as by a raw call
    if (name(kNumber) != folder_ + (which == 0 ? "/a" : "/b")) ++wrong;
    table_->forget(kNumber);
    close(kNumber);
    table_->closed(kNumber);
  }
  done.store(true);
  for (std::thread& spy : spies) spy.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(FdTableTest, RacingFirstUsesOfFarNumbersAgreeOnOnePage) {
  for (int round = 1; round < 30; ++round) {
    std::vector<std::thread> threads;
    const int first = round << 16;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        table_->set(first + t, {static_cast<model::StringId>(t) + 1u, FdKind::kFile, true});
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int t = 0; t < 4; ++t) ASSERT_EQ(table_->find(first + t).name, static_cast<model::StringId>(t) + 1u);
  }
}

// Any mix of calls on one number, for ThreadSanitizer; afterwards the number works.
TEST_F(FdTableTest, AnyMixOfCallsOnOneNumberIsHarmless) {
  const int fd = make("/x");
  const FdEntry entry = file_entry(folder_ + "/x");
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        switch ((t + i) % 6) {
          case 0: table_->set(fd, entry); break;
          case 1: table_->forget(fd); break;
          case 2: table_->copy(fd, 5000); break;
          case 3: table_->closed(fd); break;
          case 4: table_->forget_range(0, 1030); break;
          default: {
            const FdEntry found = table_->find(fd);
            if (found.name != entry.name) ADD_FAILURE() << text_of(found.name);
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  table_->forget(fd);
  EXPECT_EQ(name(fd), folder_ + "/x");
  close(fd);
}

}  // namespace
}  // namespace dft::io
