// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/version.h"

#include <gtest/gtest.h>

namespace dft::gpu::cupti {
namespace {

TEST(Version, ANumberOfSeveralToolkitsGivesTheirRange) {
  EXPECT_EQ(Version(14).toolkits().oldest, 11010u);
  EXPECT_EQ(Version(14).toolkits().newest, 11040u);
  EXPECT_EQ(Version(28).toolkits().newest, 12090u);
  EXPECT_EQ(Version(130'001).toolkits().oldest, 13000u);
  EXPECT_EQ(Version(130'500).toolkits().newest, 13050u);
  EXPECT_EQ(Version(99).toolkits().newest, 0u);
}

TEST(Version, DefectsAreTakenToBeInEachReleaseThatMayHaveThem) {
  EXPECT_FALSE(Version(26).may_refuse_buffers());
  EXPECT_TRUE(Version(27).may_refuse_buffers());
  EXPECT_TRUE(Version(24).timestamp_callback_zeroes());
  EXPECT_TRUE(Version(130'001).timestamp_callback_zeroes());
  EXPECT_FALSE(Version(130'100).timestamp_callback_zeroes());
  EXPECT_TRUE(Version(130'000).disable_may_hang());
  EXPECT_FALSE(Version(130'001).disable_may_hang());
  EXPECT_TRUE(Version(14).coarse_clock());
  EXPECT_FALSE(Version(16).coarse_clock());
  EXPECT_FALSE(Version(13).has_kernel_graph_id());
  EXPECT_TRUE(Version(14).has_kernel_graph_id());
  EXPECT_TRUE(Version(18).graph_callbacks_crash(13000));  // 11.8 to 12.1
  EXPECT_TRUE(Version(17).graph_callbacks_crash(12080));
  EXPECT_FALSE(Version(18).graph_callbacks_crash(12080));
  EXPECT_FALSE(Version(18).graph_callbacks_crash(0));
  EXPECT_FALSE(Version(20).graph_callbacks_crash(13000));
  EXPECT_FALSE(Version(130'001).graph_callbacks_crash(14000));
  EXPECT_FALSE(Version(99).graph_callbacks_crash(13000));
  EXPECT_FALSE(Version(130'200).may_share());
  EXPECT_TRUE(Version(130'300).may_share());
}

}  // namespace
}  // namespace dft::gpu::cupti
