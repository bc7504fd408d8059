// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/library.h"

#include <gtest/gtest.h>

namespace dft::gpu::rocprof {
namespace {

TEST(Library, TheGenerationIsThatOfTheReleaseAndOfItsKinds) {
  EXPECT_EQ(generation_of(release_number(0, 4, 0), false), Generation::k05);
  EXPECT_EQ(generation_of(release_number(0, 5, 0), false), Generation::k05);
  EXPECT_EQ(generation_of(release_number(0, 5, 0), true), Generation::k06);
  EXPECT_EQ(generation_of(release_number(0, 6, 0), true), Generation::k06);
  EXPECT_EQ(generation_of(release_number(1, 0, 0), true), Generation::k1);
  EXPECT_EQ(generation_of(release_number(1, 3, 5), true), Generation::k1);
}

TEST(Library, RuntimesAreKnownByTheirFiles) {
  EXPECT_TRUE(names_runtime("libamdhip64.so.7"));
  EXPECT_TRUE(names_runtime("/opt/rocm/lib/libhsa-runtime64.so.1"));
  EXPECT_TRUE(names_runtime("/site-packages/torch/lib/librccl.so"));
  EXPECT_FALSE(names_runtime("libcuda.so.1"));
  EXPECT_FALSE(names_runtime("/libamdhip64.so.7/libc.so.6"));
  EXPECT_FALSE(names_runtime(nullptr));
}

TEST(Library, NoneIsFoundWhereThereIsNone) {
  Library library;
  EXPECT_FALSE(find_mapped_library(&library));
  EXPECT_FALSE(library_of(reinterpret_cast<const void*>(&release_number), &library));
  Search search;
  search.file = "/nowhere/librocprofiler-sdk.so";  // then no other is looked at
  EXPECT_FALSE(find_library(search, &library));
  search.file = "libc.so.6";  // no such functions
  EXPECT_FALSE(find_library(search, &library));
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_FALSE(runtime_is_mapped());
}

TEST(Library, AMachineWithoutTheDriverHasNoGpu) {
  EXPECT_TRUE(has_driver("/"));
  EXPECT_FALSE(has_driver("/nowhere/at/all"));
}

}  // namespace
}  // namespace dft::gpu::rocprof
