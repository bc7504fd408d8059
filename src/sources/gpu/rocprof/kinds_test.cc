// SPDX-License-Identifier: MIT
#include "sources/gpu/rocprof/kinds.h"

#include <gtest/gtest.h>

#include "sources/gpu/rocprof/fake_functions.h"

namespace dft::gpu::rocprof {
namespace {

TEST(Kinds, AreFoundByNameWhateverTheirNumber) {
  const Functions functions = fake_functions();
  KindTable table;
  fake_names = {{"NONE", "HIP_RUNTIME_API", "SOMETHING_NEW", "KERNEL_DISPATCH"}, {"NONE", "CODE_OBJECT"}, {"", "one"}};
  ASSERT_TRUE(table.configure(functions));
  EXPECT_EQ(table.buffered_number(kind_index("KERNEL_DISPATCH")), 3);
  EXPECT_EQ(table.of_number(3), kind_index("KERNEL_DISPATCH"));
  EXPECT_EQ(table.of_number(2), kKinds);
  EXPECT_EQ(table.of_number(4'000'000'000), kKinds);
  EXPECT_EQ(table.buffered_number(kind_index("MEMORY_COPY")), -1);
  EXPECT_EQ(table.code_object_number(), 1);
  EXPECT_EQ(table.marker_range_number(), -1);
  EXPECT_EQ(table.operation_name(kind_index("KERNEL_DISPATCH"), 1), "one");
  EXPECT_EQ(table.operation_name(kind_index("KERNEL_DISPATCH"), 7), "");
  EXPECT_EQ(table.operation_name(kind_index("MEMORY_COPY"), 1), "");
  fake_names = {{"NONE", "KERNEL_DISPATCH"}, {"CODE_OBJECT", "MARKER_CORE_RANGE_API"}, {}};
  ASSERT_TRUE(table.configure(functions));
  EXPECT_EQ(table.of_number(1), kind_index("KERNEL_DISPATCH"));
  EXPECT_EQ(table.of_number(3), kKinds);
  EXPECT_EQ(table.marker_range_number(), 1);
}

TEST(Kinds, ALibraryWithoutAnyIsRefused) {
  fake_names = {{"NONE", "SOMETHING_NEW"}, {}, {}};
  KindTable table;
  EXPECT_FALSE(table.configure(fake_functions()));
}

TEST(Kinds, AListNamesThemOrTheDefaultOrAll) {
  std::string_view unknown;
  EXPECT_EQ(kind_bits(nullptr, 0, &unknown), default_kinds());
  const std::string_view named[] = {"KERNEL_DISPATCH", "OMPT"};
  EXPECT_EQ(kind_bits(named, 2, &unknown), 1u << kind_index("KERNEL_DISPATCH") | 1u << kind_index("OMPT"));
  const std::string_view more[] = {"default", "OMPT"};
  EXPECT_EQ(kind_bits(more, 2, &unknown), default_kinds() | 1u << kind_index("OMPT"));
  const std::string_view all[] = {"all"};
  const std::uint32_t twice = 1u << kind_index("HIP_RUNTIME_API_EXT") | 1u << kind_index("HIP_COMPILER_API_EXT");
  EXPECT_EQ(kind_bits(all, 1, &unknown), kAllKinds & ~twice);
  EXPECT_EQ(unknown, "");
  const std::string_view wrong[] = {"MEMORY_COPY", "KERNELS", "COPIES"};
  EXPECT_EQ(kind_bits(wrong, 3, &unknown), 1u << kind_index("MEMORY_COPY"));
  EXPECT_EQ(unknown, "KERNELS");
}

TEST(Kinds, TheDefaultIsWhatIsPromised) {
  for (const char* name :
       {"HIP_RUNTIME_API", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
        "KERNEL_DISPATCH", "MEMORY_COPY", "SCRATCH_MEMORY", "PAGE_MIGRATION", "KFD_EVENT_PAGE_MIGRATE",
        "KFD_EVENT_DROPPED_EVENTS", "RCCL_API", "MARKER_CORE_API", "MEMORY_ALLOCATION", "HIP_STREAM"}) {
    EXPECT_NE(default_kinds() >> kind_index(name) & 1u, 0u) << name;
  }
  for (const char* name : {"HIP_COMPILER_API", "KFD_PAGE_MIGRATE", "OMPT", "HIP_RUNTIME_API_EXT"}) {
    EXPECT_EQ(default_kinds() >> kind_index(name) & 1u, 0u) << name;
  }
}

TEST(Kinds, QuietModeKeepsEveryCallThatDoesWork) {
  const unsigned hip = kind_index("HIP_RUNTIME_API"), core = kind_index("HSA_CORE_API");
  const unsigned amd = kind_index("HSA_AMD_EXT_API"), rccl = kind_index("RCCL_API");
  for (const char* loud : {"hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipGraphLaunch",
                           "hipMemcpy", "hipMalloc", "hipStreamSynchronize", "hipGetDeviceFlags", "hipModuleLoad"}) {
    EXPECT_FALSE(is_quiet_call(hip, loud)) << loud;
  }
  for (const char* quiet : {"hipGetDevice", "hipSetDevice", "hipGetLastError", "hipGetDevicePropertiesR0600",
                            "hipGetDeviceProperties", "__hipPushCallConfiguration", "hipModuleGetFunction"}) {
    EXPECT_TRUE(is_quiet_call(hip, quiet)) << quiet;
  }
  EXPECT_FALSE(is_quiet_call(core, "hsa_init"));
  EXPECT_FALSE(is_quiet_call(core, "hsa_executable_load_agent_code_object"));
  EXPECT_FALSE(is_quiet_call(amd, "hsa_amd_memory_async_copy_on_engine"));
  EXPECT_TRUE(is_quiet_call(core, "hsa_signal_store_screlease"));
  EXPECT_TRUE(is_quiet_call(core, "hsa_agent_get_info"));
  EXPECT_TRUE(is_quiet_call(amd, "hsa_amd_profiling_get_dispatch_time"));
  EXPECT_FALSE(is_quiet_call(rccl, "ncclCommCount"));
}

}  // namespace
}  // namespace dft::gpu::rocprof
