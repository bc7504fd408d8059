// SPDX-License-Identifier: MIT
#include "record/definitions_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "record/recorder.h"

namespace dft::record {
namespace {

TEST(Definitions, TheSameTripleGetsTheSameIdFromEveryThread) {
  constexpr int kNames = 3000;
  std::vector<std::vector<model::SiteId>> ids(4, std::vector<model::SiteId>(kNames));
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kNames; ++i) {
        mine[static_cast<std::size_t>(i)] =
            recorder.definitions.intern_site("n" + std::to_string(i), "c", model::Layer::kCApp);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < kNames; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NE(ids[0][at], 0u);
    EXPECT_EQ(ids[0][at], ids[1][at]);
    EXPECT_EQ(ids[0][at], ids[3][at]);
    model::SiteDef def;
    ASSERT_TRUE(recorder.definitions.site(ids[0][at], def));
    EXPECT_EQ(def.name, "n" + std::to_string(i));
    EXPECT_EQ(def.cat, "c");
    EXPECT_EQ(def.layer, model::Layer::kCApp);
  }
}

TEST(Definitions, CategoryLayerAndKindTellEntriesApart) {
  auto& log = recorder.definitions;
  const auto a = log.intern_site("x", "y", model::Layer::kCApp);
  EXPECT_NE(a, log.intern_site("x", "z", model::Layer::kCApp));
  EXPECT_NE(a, log.intern_site("x", "y", model::Layer::kCppApp));
  EXPECT_NE(a, log.intern_site("xy", "", model::Layer::kCApp));
  EXPECT_NE(log.intern_string(model::StringKind::kFile, "x"), log.intern_string(model::StringKind::kString, "x"));
}

TEST(Definitions, StringsCarryTheirHashAndAnyBytes) {
  auto& log = recorder.definitions;
  const std::string odd("a\0b\xff", 4);
  const auto id = log.intern_string(model::StringKind::kFile, odd);
  model::StringDef def;
  ASSERT_TRUE(log.string(id, def));
  EXPECT_EQ(def.bytes, odd);
  EXPECT_EQ(std::string(def.hash, 16), base::string_hash(odd).view());
  model::SiteDef site;
  EXPECT_FALSE(log.site(id, site));
  EXPECT_FALSE(log.string(0xfffffff, def));
}

std::atomic<unsigned> handled{0};
void add_in_handler(int) {
  char name[16] = "handled";
  const unsigned number = handled.load();
  for (unsigned i = 0; i < 8; ++i) name[7 + i] = static_cast<char>('0' + ((number >> (3 * i)) & 7));
  if (recorder.definitions.intern_string(model::StringKind::kFile, {name, 15}) != 0) handled.fetch_add(1);
}

TEST(Definitions, AHandlerMayAddNamesInTheMidstOfAnAddition) {
  struct sigaction action {};
  action.sa_handler = add_in_handler;
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  // A timer interrupts this thread whenever it runs; a thread that sends would have to get a core of a busy machine
  // too.
  const struct itimerval often {
    {0, 50}, { 0, 50 }
  }, never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::vector<model::StringId> ids;
  const auto name = [](std::size_t i) { return "amidst" + std::to_string(i); };
  while (ids.size() < 3000 || (handled.load() < 100 && ids.size() < 300'000)) {
    ids.push_back(recorder.definitions.intern_string(model::StringKind::kFile, name(ids.size())));
  }
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
  EXPECT_GE(handled.load(), 100u);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    model::StringDef def;
    ASSERT_TRUE(recorder.definitions.string(ids[i], def));
    ASSERT_EQ(def.bytes, name(i));
    ASSERT_EQ(recorder.definitions.intern_string(model::StringKind::kFile, name(i)), ids[i]);
  }
}

TEST(Definitions, LongNamesStayWhole) {
  const std::string name(300'000, 'n');
  model::SiteDef def;
  ASSERT_TRUE(recorder.definitions.site(recorder.definitions.intern_site(name, "c", model::Layer::kCApp), def));
  EXPECT_EQ(def.name, name);
}

}  // namespace
}  // namespace dft::record
