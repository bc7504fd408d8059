// SPDX-License-Identifier: MIT
#include "sources/io/mapping_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace dft::io {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

class MappingTableTest : public testing::Test {
 protected:
  std::unique_ptr<MappingTable> table_ = std::make_unique<MappingTable>();
};

TEST_F(MappingTableTest, FindsTheMappingThatHoldsAnAddress) {
  EXPECT_EQ(table_->find(at(0x1000)), 0u);
  table_->add(at(0x1000), 0x2000, 7);
  table_->add(at(0x5000), 0x1000, 8);
  EXPECT_EQ(table_->find(at(0xfff)), 0u);
  EXPECT_EQ(table_->find(at(0x1000)), 7u);
  EXPECT_EQ(table_->find(at(0x2fff)), 7u);
  EXPECT_EQ(table_->find(at(0x3000)), 0u);
  EXPECT_EQ(table_->find(at(0x5000)), 8u);
}

TEST_F(MappingTableTest, APartThatIsUnmappedIsForgotten) {
  table_->add(at(0x1000), 0x4000, 7);
  table_->remove(at(0x1000), 0x1000);  // its beginning
  EXPECT_EQ(table_->find(at(0x1000)), 0u);
  EXPECT_EQ(table_->find(at(0x2000)), 7u);
  table_->remove(at(0x4000), 0x9000);  // its end
  EXPECT_EQ(table_->find(at(0x3fff)), 7u);
  EXPECT_EQ(table_->find(at(0x4000)), 0u);
  table_->remove(at(0), 0x10000);
  EXPECT_EQ(table_->find(at(0x3000)), 0u);
}

TEST_F(MappingTableTest, ANewMappingReplacesWhatItCovers) {
  table_->add(at(0x1000), 0x1000, 7);
  table_->add(at(0x1000), 0x1000, 8);
  EXPECT_EQ(table_->find(at(0x1000)), 8u);
  table_->remove(at(0x1000), 0x1000);
  EXPECT_EQ(table_->find(at(0x1000)), 0u);
}

TEST_F(MappingTableTest, SlotsAreUsedAgainAndTooManyMappingsAreOnlyUnknown) {
  for (std::uintptr_t round = 0; round < 3; ++round) {
    for (std::uintptr_t i = 1; i <= MappingTable::kSlots; ++i) table_->add(at(i << 12), 0x1000, 9);
    for (std::uintptr_t i = 1; i <= MappingTable::kSlots; ++i) ASSERT_EQ(table_->find(at(i << 12)), 9u);
    table_->add(at(std::uintptr_t{1} << 40), 0x1000, 10);
    EXPECT_EQ(table_->find(at(std::uintptr_t{1} << 40)), 0u);
    for (std::uintptr_t i = 1; i <= MappingTable::kSlots; ++i) table_->remove(at(i << 12), 0x1000);
  }
}

}  // namespace
}  // namespace dft::io
