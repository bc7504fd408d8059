// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/api_names.h"

#include <gtest/gtest.h>

#include <iterator>
#include <vector>

namespace dft::gpu::cupti {
namespace {

TEST(ApiNames, NamesAreWhatTheUserWrote) {
  EXPECT_EQ(without_release_suffix("cudaMalloc_v3020"), "cudaMalloc");
  EXPECT_EQ(without_release_suffix("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel_ptsz");
  EXPECT_EQ(without_release_suffix("cudaGraphLaunch_v10000"), "cudaGraphLaunch");
  EXPECT_EQ(without_release_suffix("cudaGetDeviceProperties_v2_v12000"), "cudaGetDeviceProperties_v2");
  EXPECT_EQ(without_release_suffix("cudaStreamGetCaptureInfo_v2"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(without_release_suffix("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(without_release_suffix("_v3020"), "_v3020");
}

TEST(ApiNames, QueriesAreQuiet) {
  for (const char* name :
       {"cudaGetDevice", "cudaGetLastError", "cudaGetDeviceProperties_v2", "cudaOccupancyMaxActiveClusters",
        "cudaStreamGetCaptureInfo_v2_ptsz", "cudaStreamGetPriority_ptsz", "__cudaRegisterFatBinary",
        "__cudaPushCallConfiguration", "cudaGetDriverEntryPointByVersion"}) {
    EXPECT_TRUE(is_quiet_runtime_call(name)) << name;
  }
  for (const char* name : {"cuDevicePrimaryCtxGetState", "cuCtxGetCurrent", "cuKernelGetName", "cuKernelGetAttribute",
                           "cuDeviceGet", "cuEventQuery"}) {
    EXPECT_TRUE(is_quiet_driver_call(name)) << name;
  }
}

TEST(ApiNames, LaunchesAndWorkAreNeverQuiet) {
  for (const char* name :
       {"__cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "cudaLaunchKernel", "cudaLaunchKernelExC_ptsz",
        "cudaLaunchCooperativeKernel", "cudaGraphLaunch_ptsz", "cudaMalloc", "cudaMemcpyAsync_ptsz",
        "cudaDeviceSynchronize", "cudaEventRecord", "cudaLaunchHostFunc"}) {
    EXPECT_FALSE(is_quiet_runtime_call(name)) << name;
  }
  for (const char* name :
       {"cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuLaunchCooperativeKernel", "cuGraphLaunch_ptsz", "cuMemAlloc_v2",
        "cuMemcpyHtoDAsync_v2_ptsz", "cuMemsetD32_v2_ptds", "cuCtxSynchronize", "cuStreamSynchronize_ptsz",
        "cuEventSynchronize", "cuStreamWaitEvent_ptsz", "cuModuleLoadDataEx", "cuLibraryLoadData", "cuCtxCreate_v4",
        "cuStreamCreate", "cuEventRecord_ptsz"}) {
    EXPECT_FALSE(is_quiet_driver_call(name)) << name;
  }
}

CUptiResult fake_names(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  const char* const runtime[] = {nullptr, "cudaGetDevice_v3020", "__cudaLaunchKernel_v13000", nullptr,
                                 "cudaMalloc_v3020"};
  const char* const driver[] = {nullptr, "cuLaunchKernel", "cuKernelGetName", "cuCtxGetCurrent"};
  const bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (id >= (is_runtime ? std::size(runtime) : std::size(driver))) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = is_runtime ? runtime[id] : driver[id];
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

std::vector<std::uint32_t> left_out(const ApiNames& names, ActivityKind kind) {
  std::vector<std::uint32_t> ids;
  names.for_each_left_out(kind, [&](std::uint32_t id) { ids.push_back(id); });
  return ids;
}

TEST(ApiNames, ModesChooseByName) {
  ApiNames names;
  names.configure(&fake_names, ApiMode::kQuiet);
  EXPECT_EQ(left_out(names, ActivityKind::kRuntimeApi), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(left_out(names, ActivityKind::kDriverApi), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_FALSE(names.is_left_out(ActivityKind::kRuntimeApi, 1500));  // a call newer than the names is kept
  names.configure(&fake_names, ApiMode::kAll);
  EXPECT_TRUE(left_out(names, ActivityKind::kRuntimeApi).empty());
  EXPECT_EQ(left_out(names, ActivityKind::kDriverApi), (std::vector<std::uint32_t>{2}));  // CUPTI's own call
  names.configure(&fake_names, ApiMode::kNone);
  EXPECT_TRUE(names.is_left_out(ActivityKind::kRuntimeApi, 2));
  EXPECT_EQ(names.name(ActivityKind::kRuntimeApi, 4), "cudaMalloc");
  EXPECT_EQ(names.name(ActivityKind::kRuntimeApi, 3), "");
}

}  // namespace
}  // namespace dft::gpu::cupti
