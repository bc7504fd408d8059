// SPDX-License-Identifier: MIT
// The offsets themselves are proven by layout_proofs.cc when this is built; here it is how records of other sizes read.
#include "sources/gpu/cupti/layouts.h"

#include <gtest/gtest.h>

#include "sources/gpu/cupti/cupti_headers.h"

namespace dft::gpu::cupti {
namespace {

TEST(Layouts, AShortRecordDoesNotHaveTheLaterFields) {
  CUpti_ActivityKernel4 launch{};
  launch.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  launch.start = 7;
  launch.gridX = -1;
  launch.correlationId = 42;
  launch.name = "kernel";
  const Record record(&launch, sizeof(launch));
  EXPECT_EQ(record.get(kKind), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(record.get(kernel::kStart), 7u);
  EXPECT_EQ(record.get(kernel::kGridX), -1);
  EXPECT_EQ(record.get(kernel::kCorrelation), 42u);
  EXPECT_STREQ(record.get(kernel::kName), "kernel");
  EXPECT_FALSE(record.has(kernel::kGraphNode));
  EXPECT_EQ(record.get(kernel::kGraphNode, std::uint64_t{3}), 3u);
  EXPECT_FALSE(record.has(kernel::kClusterX));
}

TEST(Layouts, ALongerRecordThanWeKnowStillHasAllFields) {
  struct {
    unsigned char bytes[512] = {};
  } future;
  const std::uint64_t node = 0x0102030405060708;
  std::memcpy(future.bytes + 144, &node, sizeof(node));
  const Record record(&future, sizeof(future));
  EXPECT_EQ(record.get(kernel::kGraphNode), node);
  EXPECT_TRUE(record.has(kernel::kSourceGraphNode));
}

TEST(Layouts, ARecordNeedNotBeAligned) {
  CUpti_ActivityAPI call{};
  call.start = 0x1122334455667788;
  unsigned char bytes[sizeof(call) + 1];
  std::memcpy(bytes + 1, &call, sizeof(call));
  EXPECT_EQ(Record(bytes + 1, sizeof(call)).get(api::kStart), 0x1122334455667788u);
}

}  // namespace
}  // namespace dft::gpu::cupti
