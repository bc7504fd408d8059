// SPDX-License-Identifier: MIT
// The binder under test lives in a library of its own with its wrappers (test_objects/tool.cc), as in the product.
#include "intercept/got_binder.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "intercept/slot_writer.h"
#include "intercept/test_objects/caller.h"
#include "intercept/test_objects/tool.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DFT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DFT_TEST_SANITIZED 1
#endif
#endif

namespace dft::intercept {
namespace {

class Library {
 public:
  explicit Library(const std::string& name, int flags = RTLD_LAZY | RTLD_LOCAL) {
    handle_ = dlopen((DFT_TEST_OBJECTS "lib" + name + ".so").c_str(), flags);
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Library() { close(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  void close() {
    if (handle_ != nullptr) dlclose(handle_);
    handle_ = nullptr;
  }
  template <class Function>
  Function* get(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  ssize_t read() const { return get<decltype(caller_read)>("caller_read")(-1, nullptr, 0); }
  ssize_t read_by_table() const { return get<decltype(caller_read_by_table)>("caller_read_by_table")(-1, nullptr, 0); }
  ssize_t read_by_variable() const {
    return get<decltype(caller_read_by_variable)>("caller_read_by_variable")(-1, nullptr, 0);
  }
  ReadFunction* read_address() const { return get<decltype(caller_read_address)>("caller_read_address")(); }
  ReadFunction** variable() const { return get<decltype(caller_variable)>("caller_variable")(); }

 private:
  void* handle_ = nullptr;
};

class GotBinderTest : public testing::Test {
 protected:
  const Tool& tool = *dft_test_tool();
  void* wrapper() const { return tool.read_wrapper; }
  void TearDown() override { tool.unbind(); }
  // How many of the calls that `act` makes the wrapper of read sees.
  template <class Act>
  long seen(Act act) const {
    const long before = tool.reads();
    act();
    return tool.reads() - before;
  }
  // Four calls, one by each kind of slot.
  static void call_each_way(const Library& library) {
    EXPECT_EQ(library.read(), -1);
    EXPECT_EQ(library.read_address()(-1, nullptr, 0), -1);
    EXPECT_EQ(library.read_by_table(), -1);
    EXPECT_EQ(library.read_by_variable(), -1);
    EXPECT_EQ(errno, EBADF);
  }
};

class HowLinked : public GotBinderTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Libraries, HowLinked,
                         testing::Values("caller_lazy", "caller_now", "caller_symbolic", "caller_norelro",
                                         "caller_sysv", "caller_ibt"));

TEST_P(HowLinked, EveryKindOfSlotIsBoundAndUnbound) {
  const Library library(GetParam());
  ReadFunction* real = library.read_address();
  ASSERT_TRUE(tool.bind(0));
  EXPECT_EQ(seen([&] { call_each_way(library); }), 4);
  EXPECT_EQ(tool.real_read(), reinterpret_cast<void*>(real));
  EXPECT_EQ(tool.counts().refused, 0u);
  tool.unbind();
  EXPECT_EQ(seen([&] { call_each_way(library); }), 0);
  EXPECT_EQ(library.read_address(), real);
}

TEST_P(HowLinked, SlotsThatWereCalledBeforeAreBoundToo) {
  const Library library(GetParam());
  call_each_way(library);
  ASSERT_TRUE(tool.bind(0));
  EXPECT_EQ(seen([&] { call_each_way(library); }), 4);
}

TEST_P(HowLinked, PagesKeepTheirProtection) {
  const Library library(GetParam());
  struct Access {
    std::vector<PageAccess> pages;
    std::string soname;
  };
  const auto look = [&] {
    Access found{{}, std::string("lib") + GetParam() + ".so"};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          auto& access = *static_cast<Access*>(out);
          ElfObject object(*info);
          object.read();
          if (access.soname != object.soname()) return 0;
          object.each_slot([&](const Slot& slot) { access.pages.push_back(page_access(slot.word)); });
          return 1;
        },
        &found);
    return found.pages;
  };
  const std::vector<PageAccess> before = look();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(tool.bind(0));
  EXPECT_EQ(look(), before);
  tool.unbind();
  EXPECT_EQ(look(), before);
}

TEST_F(GotBinderTest, ALibraryThatComesLaterIsBoundWhenAsked) {
  ASSERT_TRUE(tool.bind(0));
  const Library plugin("plugin");
  EXPECT_EQ(seen([&] { call_each_way(plugin); }), 0);
  tool.bind_new_objects(0);
  EXPECT_EQ(seen([&] { call_each_way(plugin); }), 4);
}

TEST_F(GotBinderTest, ALibraryThatIsGoneIsForgotten) {
  ASSERT_TRUE(tool.bind(0));
  const ToolCounts before = tool.counts();
  for (int round = 0; round < 3; ++round) {  // it comes back to the same place, unbound
    Library plugin("plugin");
    tool.bind_new_objects(0);
    EXPECT_EQ(seen([&] { call_each_way(plugin); }), 4) << round;
    EXPECT_GT(tool.counts().slots, before.slots);
    plugin.close();
    if (round == 1) continue;  // nobody looks between the unload and the next load
    tool.bind_new_objects(0);
    EXPECT_EQ(tool.counts().slots, before.slots);
    EXPECT_EQ(tool.counts().objects, before.objects);
  }
}

TEST_F(GotBinderTest, UnbindWritesNothingWhereAGoneLibraryWas) {
  ASSERT_TRUE(tool.bind(0));
  Library plugin("plugin");
  tool.bind_new_objects(0);
  plugin.close();
  tool.unbind();  // would fault
  EXPECT_EQ(tool.counts().slots, 0u);
}

TEST_F(GotBinderTest, UnbindLeavesWhatOthersHaveWrittenSince) {
  const Library library("caller_lazy");
  ReadFunction* const before = *library.variable();
  ASSERT_TRUE(tool.bind(0));
  ReadFunction* const theirs = [](int, void*, size_t) -> ssize_t { return 77; };
  *library.variable() = theirs;
  tool.unbind();
  EXPECT_EQ(*library.variable(), theirs);
  EXPECT_EQ(library.read_by_variable(), 77);
  ASSERT_TRUE(tool.bind(0));
  EXPECT_EQ(*library.variable(), theirs) << "the program's own value is not ours to replace";
  *library.variable() = before;
}

TEST_F(GotBinderTest, BindingTwiceIsRefusedAndAgainIsFine) {
  const Library library("caller_now");
  ASSERT_TRUE(tool.bind(0));
  EXPECT_FALSE(tool.bind(0));
  for (int round = 0; round < 3; ++round) {
    tool.unbind();
    ASSERT_TRUE(tool.bind(0));
    EXPECT_EQ(seen([&] { call_each_way(library); }), 4);
  }
}

#if defined(__x86_64__) && !defined(DFT_TEST_SANITIZED)  // their runtimes define such names without versions
TEST_F(GotBinderTest, EachVersionOfANameHasItsOwnWrapper) {
  const Library library("caller_now");
  ASSERT_NE(library.get<decltype(caller_spawn)>("caller_spawn")(),
            library.get<decltype(caller_old_spawn)>("caller_old_spawn")());
  ASSERT_TRUE(tool.bind(0));
  EXPECT_EQ(library.get<decltype(caller_spawn)>("caller_spawn")(), tool.spawn_wrapper);
  EXPECT_EQ(library.get<decltype(caller_old_spawn)>("caller_old_spawn")(), tool.old_spawn_wrapper);
}

TEST_F(GotBinderTest, AnUnresolvedSlotMayAskForAnOlderVersionOfTheSameFunction) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (dlvsym(libc, "dlerror", "GLIBC_2.34") == nullptr) GTEST_SKIP() << "libc has one version of it";
  const Library library("plugin");
  ASSERT_TRUE(tool.bind(0));
  const long before = tool.dlerrors();
  library.get<decltype(caller_old_dlerror)>("caller_old_dlerror")();
  EXPECT_EQ(tool.dlerrors() - before, 1);
}
#endif

#ifndef DFT_TEST_SANITIZED  // their runtimes refuse RTLD_DEEPBIND
TEST_F(GotBinderTest, ADefinitionOfItsOwnScopeIsLeftAloneAndCounted) {
  const Library shimmed("deep_now", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  const Library library("caller_now");
  const long& shim_reads = *shimmed.get<long>("shim_reads");
  ASSERT_TRUE(tool.bind(0));
  const long before = shim_reads;
  EXPECT_EQ(seen([&] { EXPECT_EQ(shimmed.read(), -1); }), 0);
  EXPECT_EQ(shim_reads - before, 1);
  EXPECT_GE(tool.counts().other, 1u);
  EXPECT_EQ(seen([&] { call_each_way(library); }), 4) << "the others end in libc's";
  EXPECT_EQ(shim_reads - before, 1);
}

TEST_F(GotBinderTest, ASpareWrapperGoesOnTopOfTheOtherDefinition) {
  const Library shimmed("deep_now", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  const long& shim_reads = *shimmed.get<long>("shim_reads");
  ASSERT_TRUE(tool.bind(TOOL_WITH_SPARE));
  const long shim_before = shim_reads;
  const long spare_before = tool.spare_reads();
  EXPECT_EQ(seen([&] { EXPECT_EQ(shimmed.read(), -1); }), 0);
  EXPECT_EQ(shim_reads - shim_before, 1);
  EXPECT_EQ(tool.spare_reads() - spare_before, 1);
}

TEST_F(GotBinderTest, AnUnresolvedSlotOfUnknownScopeIsLeftAloneAndCounted) {
  ASSERT_TRUE(tool.bind(0));
  const Library shimmed("deep_lazy", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  const long& shim_reads = *shimmed.get<long>("shim_reads");
  tool.bind_new_objects(RTLD_LAZY | RTLD_DEEPBIND);
  EXPECT_GE(tool.counts().unsure, 1u);
  const long before = shim_reads;
  EXPECT_EQ(seen([&] { EXPECT_EQ(shimmed.read(), -1); }), 0);
  EXPECT_EQ(shim_reads - before, 1) << "it must reach what its own scope has";
}

TEST_F(GotBinderTest, ItsOwnScopeIsToldByWhatItHoldsWhenTheFlagsWereNotSeen) {
  const Library shimmed("deep_lazy", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  const long& shim_reads = *shimmed.get<long>("shim_reads");
  ASSERT_TRUE(tool.bind(0));
  const long before = shim_reads;
  EXPECT_EQ(seen([&] { EXPECT_EQ(shimmed.read(), -1); }), 0);
  EXPECT_EQ(shim_reads - before, 1);
}
#endif

TEST_F(GotBinderTest, AnotherToolThatBoundBeforeUsStaysBehindUs) {
  void* handle = dlopen(DFT_TEST_OBJECTS "libother_tool.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const Tool& other = *reinterpret_cast<const Tool* (*)()>(dlsym(handle, "dft_other_tool"))();
  const Library library("caller_now");
  ASSERT_TRUE(other.bind(0));
  ASSERT_TRUE(tool.bind(0));
  const long before = other.reads();
  EXPECT_EQ(seen([&] { call_each_way(library); }), 4);
  EXPECT_EQ(other.reads() - before, 4);
  tool.unbind();
  EXPECT_EQ(seen([&] { call_each_way(library); }), 0);
  EXPECT_EQ(other.reads() - before, 8) << "its bindings are back in place";
  other.unbind();
}

TEST_F(GotBinderTest, AnotherToolThatBindsAfterUsKeepsItsPlace) {
  void* handle = dlopen(DFT_TEST_OBJECTS "libother_tool.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const Tool& other = *reinterpret_cast<const Tool* (*)()>(dlsym(handle, "dft_other_tool"))();
  const Library library("caller_now");
  ASSERT_TRUE(tool.bind(0));
  ASSERT_TRUE(other.bind(0));
  const long before = other.reads();
  EXPECT_EQ(seen([&] { call_each_way(library); }), 4);
  EXPECT_EQ(other.reads() - before, 4);
  tool.unbind();
  call_each_way(library);  // through both wrappers, which pass on
  EXPECT_EQ(other.reads() - before, 8);
  other.unbind();
}

TEST_F(GotBinderTest, AForkedChildCanUnbind) {
  const Library library("caller_now");
  ASSERT_TRUE(tool.bind(0));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool bound = seen([&] { (void)library.read(); }) == 1;
    tool.unbind();
    const bool unbound = seen([&] { (void)library.read(); }) == 0;
    _exit(bound && unbound ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen([&] { (void)library.read(); }), 1);
}

TEST_F(GotBinderTest, ThreadsCallThroughTheSlotsWhileTheyChange) {
  const Library lazy("caller_lazy"), now("caller_now");
  std::atomic<bool> stop{false};
  std::atomic<long> calls{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const Library& library = i % 2 == 0 ? lazy : now;
      const auto call = library.get<decltype(caller_read)>("caller_read");
      const auto by_table = library.get<decltype(caller_read_by_table)>("caller_read_by_table");
      while (!stop.load()) {
        errno = 0;
        if (call(-1, nullptr, 0) != -1 || errno != EBADF || by_table(-1, nullptr, 0) != -1) ++wrong;
        ++calls;
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(tool.bind(0));
    const Library plugin("plugin");
    tool.bind_new_objects(0);
    EXPECT_EQ(seen([&] { (void)plugin.read(); }) >= 1, true);
    if (round != 19) tool.unbind();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(calls.load(), 0);
  EXPECT_EQ(seen([&] { call_each_way(lazy), call_each_way(now); }), 8);
}

TEST_F(GotBinderTest, AConstructorInsideDlopenMayBindWhileOthersDo) {
  std::atomic<bool> stop{false};
  std::thread binds([&] {
    while (!stop.load()) {
      tool.bind(0);
      tool.bind_new_objects(0);
      tool.unbind();
    }
  });
  for (int round = 0; round < 100; ++round) {
    const Library unprotected("caller_norelro");  // often seen in the middle of its relocation
    const Library library("constructor");
    call_each_way(unprotected);
    EXPECT_EQ(library.get<ssize_t()>("constructor_read")(), -1);
  }
  stop = true;
  binds.join();
}

// ---- whole programs

#ifndef DFT_TEST_SANITIZED  // their runtimes want to be preloaded first
std::string output_of(const std::string& environment, const std::string& program) {
  FILE* pipe = popen((environment + " " DFT_TEST_OBJECTS + program + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  char line[256] = "";
  std::string text;
  while (fgets(line, sizeof line, pipe) != nullptr) text += line;
  return text + "status " + std::to_string(WEXITSTATUS(pclose(pipe)));
}
constexpr char kPreloadShim[] = "LD_PRELOAD=" DFT_TEST_OBJECTS "libshim.so";

TEST(BoundProgram, EveryCallIsSeenOnce) {
  for (const char* program : {"program_pie", "program_fixed"})
    EXPECT_EQ(output_of("", program), "wrapped 12 shim 0 equal 1\nstatus 0") << program;
}

TEST(BoundProgram, APreloadedShimSeesEveryCallBehindUs) {
  for (const char* program : {"program_pie", "program_fixed"}) {
    EXPECT_EQ(output_of(kPreloadShim, program), "wrapped 12 shim 12 equal 1\nstatus 0") << program;
    EXPECT_EQ(output_of(std::string(kPreloadShim) + " LD_BIND_NOW=1", program), "wrapped 12 shim 12 equal 1\nstatus 0")
        << program;
  }
}

class BoundProgramWithAllocator : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Allocators, BoundProgramWithAllocator,
                         testing::Values("libjemalloc.so.2", "libtcmalloc_minimal.so.4"));
TEST_P(BoundProgramWithAllocator, CallsAreSeenAsWithout) {
  const std::string output = output_of(std::string("LD_PRELOAD=") + GetParam(), "program_pie");
  if (output.find("cannot be preloaded") != std::string::npos) GTEST_SKIP() << output;
  EXPECT_EQ(output, "wrapped 12 shim 0 equal 1\nstatus 0");
}

TEST(BoundProgram, ExportedNamesAreNotBoundTwice) {
  EXPECT_EQ(output_of("", "program_exporting given"), "wrapped 12 shim 0 equal 1\nstatus 0");
  EXPECT_EQ(output_of(kPreloadShim, "program_exporting given"), "wrapped 12 shim 12 equal 1\nstatus 0");
}
#endif

}  // namespace
}  // namespace dft::intercept
