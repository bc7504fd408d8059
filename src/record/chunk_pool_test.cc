// SPDX-License-Identifier: MIT
#include "record/chunk_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace dft::record {
namespace {

using model::ChunkHeader;
using model::ChunkKind;
using model::kChunkSize;

class Pool : public ::testing::Test {
 protected:
  ~Pool() override {
    for (ChunkHeader* chunk : taken_) pool_.give_back(chunk);
  }

  void limit(std::size_t chunks) {
    PoolOptions options;
    options.limit_bytes = chunks * kChunkSize;
    pool_.configure(options);
  }

  ChunkHeader* take() {
    ChunkHeader* chunk = pool_.take(ChunkKind::kEvents, 1, false);
    if (chunk != nullptr) taken_.push_back(chunk);
    return chunk;
  }

  static std::size_t pages_in_memory(ChunkHeader* chunk) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages(kChunkSize / page);
    EXPECT_EQ(mincore(chunk, kChunkSize, pages.data()), 0);
    return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto flags) { return flags & 1; }));
  }

  static bool kernel_populates() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool works = madvise(memory, page, MADV_POPULATE_WRITE) == 0;
    munmap(memory, page);
    return works;
  }

  ChunkPool pool_;
  std::vector<ChunkHeader*> taken_;
};

TEST_F(Pool, FewChunksTakeOnlyTheMemoryThatIsUsed) {
  limit(1000);
  ChunkHeader* chunk = take();
  ASSERT_NE(chunk, nullptr);
  pool_.prepare();
  EXPECT_EQ(pages_in_memory(chunk), 1u);
  EXPECT_EQ(pages_in_memory(take()), 1u);
}

TEST_F(Pool, FarBehindTheNextChunksAreInMemoryBeforeTheyAreTaken) {
  if (!kernel_populates()) GTEST_SKIP() << "this kernel has no MADV_POPULATE_WRITE";
  limit(1000);
  for (int i = 0; i < 100; ++i) ASSERT_NE(take(), nullptr);
  pool_.prepare();
  for (int i = 0; i < 8; ++i) {
    ChunkHeader* chunk = take();
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(pages_in_memory(chunk), kChunkSize / static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) << i;
  }
}

TEST_F(Pool, PreparedChunksDoNotRaiseTheLimit) {
  limit(100);
  for (int i = 0; i < 98; ++i) ASSERT_NE(take(), nullptr);
  pool_.prepare();
  EXPECT_NE(take(), nullptr);
  EXPECT_NE(take(), nullptr);
  EXPECT_EQ(take(), nullptr);
  pool_.prepare();
  EXPECT_EQ(pool_.bytes_in_use(), 100u * kChunkSize);
}

TEST_F(Pool, AChunkGivenBackIsTheNextOneTaken) {
  limit(100);
  ChunkHeader* first = take();
  take();
  pool_.give_back(first);
  taken_.erase(taken_.begin());
  EXPECT_EQ(take(), first);
}

}  // namespace
}  // namespace dft::record
