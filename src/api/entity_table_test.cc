// SPDX-License-Identifier: MIT
#include "api/entity_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace dft::api {
namespace {

Declaration entity(std::uint64_t id, std::string_view uri = "u", int store = 2) { return {id, false, store, "t", uri}; }

TEST(EntityTable, WritesEachEntityOnceAFile) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  EXPECT_TRUE(table->declare(entity(7), 1, first));
  EXPECT_FALSE(table->declare(entity(7), 1, first));
  EXPECT_TRUE(table->declare(entity(7), 2, first));
  EXPECT_FALSE(table->declare(entity(7), 2, first));
}

TEST(EntityTable, FirstDeclarationFixesTheTexts) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  table->declare(entity(7, "one", 1), 1, first);
  EXPECT_TRUE(table->declare(entity(7, "two", 2), 2, first));
  EXPECT_EQ(first.text, "one");
  EXPECT_EQ(first.type, "t");
  EXPECT_EQ(first.detail, 1);
}

TEST(EntityTable, TypesAndEntitiesOfOneIdAreDifferentThings) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  EXPECT_TRUE(table->declare(entity(7), 1, first));
  EXPECT_TRUE(table->declare({7, true, 3, "t", "description"}, 1, first));
  EXPECT_TRUE(table->use(7, true, 2, first));
  EXPECT_EQ(first.text, "description");
}

TEST(EntityTable, UnknownIdsNeedNoRecord) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  EXPECT_FALSE(table->use(9, false, 1, first));
}

TEST(EntityTable, TheFirstRecordMayOpenTheFile) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  EXPECT_TRUE(table->declare(entity(7), 1, first));
  table->wrote(7, false, 2);
  EXPECT_FALSE(table->use(7, false, 2, first));
}

TEST(EntityTable, GrowsAndKeepsAll) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  for (std::uint64_t id = 1; id <= 5000; ++id) {
    const std::string uri = "uri" + std::to_string(id);
    ASSERT_TRUE(table->declare({id << 32, false, 0, "type", uri}, 1, first));
  }
  for (std::uint64_t id = 1; id <= 5000; ++id) {
    ASSERT_TRUE(table->use(id << 32, false, 2, first));
    ASSERT_EQ(first.text, "uri" + std::to_string(id));
  }
}

TEST(EntityTable, FullMeansWrittenEveryTime) {
  auto table = std::make_unique<EntityTable>();
  Declaration first;
  for (std::uint64_t id = 1; id <= EntityTable::kMostEntities; ++id) table->declare(entity(id), 1, first);
  EXPECT_FALSE(table->declare(entity(1), 1, first));
  EXPECT_TRUE(table->declare(entity(EntityTable::kMostEntities + 1, "late"), 1, first));
  EXPECT_TRUE(table->declare(entity(EntityTable::kMostEntities + 1, "late"), 1, first));
  EXPECT_EQ(first.text, "late");
}

TEST(EntityTable, OneThreadWritesEachEntity) {
  auto table = std::make_unique<EntityTable>();
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Declaration first;
      for (std::uint64_t id = 1; id <= 2000; ++id) written += table->declare(entity(id), 1, first) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 2000);
}

TEST(EntityTable, ForkWhileAnotherThreadDeclaresDoesNotHang) {
  auto table = std::make_unique<EntityTable>();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    Declaration first;
    for (std::uint64_t id = 1; !stop; ++id) table->declare(entity(id % 4000 + 1), id, first);
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a hang ends the child by a signal
      Declaration first;
      const bool fresh = table->declare(entity(1), ~0ull, first);
      _exit(fresh ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace dft::api
