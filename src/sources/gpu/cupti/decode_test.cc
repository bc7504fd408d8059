// SPDX-License-Identifier: MIT
// Records of sizes that old and future releases have; whole recordings are replayed in test/cuda.
#include "sources/gpu/cupti/decode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "sources/gpu/cupti/decode_kernel.h"
#include "sources/gpu/cupti/error_names.h"

namespace dft::gpu::cupti {
namespace {

// Bytes of a record of any size.
class Raw {
 public:
  Raw(std::uint32_t kind, std::size_t size) : bytes_(size, '\0') { put(0, kind); }
  template <typename T>
  Raw& put(std::size_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
    return *this;
  }
  Record record() const { return Record(bytes_.data(), bytes_.size()); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::vector<std::size_t> sizes;  // of the records in the buffer that is walked
CUptiResult walk(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::size_t at = 0, index = 0;
  if (*record != nullptr) {
    const auto current = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    while (at <= current && index < sizes.size()) at += sizes[index++];
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

struct Sink final : ActivitySink {
  std::vector<Activity> activities;
  std::vector<std::string> details;
  std::uint64_t lost = 0;
  std::vector<ContextFacts> contexts;
  void activity(const Activity& activity) override { activities.push_back(activity); }
  void device(const DeviceFacts&) override {}
  void context(const ContextFacts& facts) override { contexts.push_back(facts); }
  void stream(const StreamFacts&) override {}
  void graph(const GraphFacts&) override {}
  void loss(LossCause, std::uint64_t count, std::uint64_t, const char* detail) override {
    lost += count;
    details.push_back(detail);
  }
};

Sink decode(const std::vector<Raw>& records, std::uint32_t categories = ~0u) {
  std::string bytes;
  sizes.clear();
  for (const Raw& raw : records) {
    bytes += raw.bytes();
    sizes.push_back(raw.bytes().size());
  }
  ApiNames names;
  names.configure(nullptr, ApiMode::kAll);
  Decoder decoder;
  decoder.configure({categories, Version(130001), &walk}, names);
  Sink sink;
  decoder.decode({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0, 0}, sink);
  return sink;
}

TEST(Decode, KernelsOfEveryReleaseGiveWhatTheyHave) {
  for (const std::size_t size : {144u, 160u, 168u, 176u, 200u, 208u, 216u, 224u, 240u, 248u}) {
    Raw raw(10, size);
    raw.put(16, std::uint64_t{100}).put(24, std::uint64_t{200}).put(48, 7u).put(92, 5u).put(96, std::int64_t{-1});
    if (size >= 160) raw.put(144, std::uint64_t{0x500000001});
    if (size >= 168) raw.put(156, 5u);
    if (size >= 200) raw.put(176, 2u);
    const Activity activity = activity_of(decode_kernel(raw.record(), size >= 168));
    EXPECT_EQ(activity.begin, 100u);
    EXPECT_EQ(activity.end, 200u);
    EXPECT_EQ(activity.stream, 7u);
    EXPECT_EQ(activity.correlation, 5u);
    EXPECT_EQ(activity.kernel.grid_id, -1);
    EXPECT_EQ(activity.graph_node, size >= 160 ? 0x500000001u : 0u);
    EXPECT_EQ(activity.graph, size >= 168 ? 5u : kNoId);
    EXPECT_EQ(activity.kernel.cluster[0], size >= 200 ? 2u : 0u);
  }
  EXPECT_EQ(decode({Raw(10, 136)}).lost, 1u);
}

TEST(Decode, UnknownKindsAndShortRecordsAreCountedByKindAndSize) {
  const Sink sink = decode({Raw(200, 48), Raw(200, 48), Raw(10, 64), Raw(200, 56), Raw(1, 96)});
  EXPECT_EQ(sink.lost, 4u);
  EXPECT_EQ(sink.details,
            (std::vector<std::string>{"CUPTI activity kind 200, 48 bytes", "CUPTI activity kind 10, 64 bytes",
                                      "CUPTI activity kind 200, 56 bytes"}));
  EXPECT_EQ(sink.activities.size(), 1u);  // the copy behind them
}

TEST(Decode, ManyUnknownKindsAreStillCountedExactly) {
  std::vector<Raw> records;
  for (std::uint32_t i = 0; i < 40; ++i) records.emplace_back(200 + i, 48);
  EXPECT_EQ(decode(records).lost, 40u);
}

TEST(Decode, AForciblyReturnedBufferEndsAtAnInvalidRecord) {
  const Sink sink = decode({Raw(1, 96), Raw(0, 96), Raw(1, 96)});
  EXPECT_EQ(sink.activities.size(), 1u);
  EXPECT_EQ(sink.lost, 0u);
}

TEST(Decode, AWalkThatLeavesTheBufferIsStopped) {
  sizes = {96, 10'000};
  const std::string bytes = Raw(1, 96).bytes() + Raw(1, 96).bytes();
  ApiNames names;
  Decoder decoder;
  decoder.configure({~0u, Version(130001),
                     [](std::uint8_t* buffer, std::size_t, CUpti_Activity** record) {
                       *record = *record == nullptr ? reinterpret_cast<CUpti_Activity*>(buffer)
                                                    : reinterpret_cast<CUpti_Activity*>(buffer + 5000);
                       return CUPTI_SUCCESS;
                     }},
                    names);
  Sink sink;
  decoder.decode({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0, 0}, sink);
  EXPECT_EQ(sink.details, (std::vector<std::string>{"records out of order"}));
}

TEST(Decode, CategoriesThatAreNotWantedAreLeftOut) {
  const std::uint32_t copies = 1u << static_cast<unsigned>(ActivityKind::kMemcpy);
  const Sink sink = decode({Raw(1, 96), Raw(2, 88), Raw(5, 40), Raw(38, 56)}, copies);
  ASSERT_EQ(sink.activities.size(), 1u);
  EXPECT_EQ(sink.activities[0].kind, ActivityKind::kMemcpy);
  EXPECT_EQ(sink.lost, 0u);
}

TEST(Decode, FailedCallsCarryTheErrorsName) {
  const Sink sink = decode({Raw(5, 40).put(36, 2u), Raw(4, 40).put(36, 2u), Raw(5, 40), Raw(5, 40).put(36, 123'456u)});
  ASSERT_EQ(sink.activities.size(), 4u);
  EXPECT_STREQ(sink.activities[0].api.error, "cudaErrorMemoryAllocation");
  EXPECT_STREQ(sink.activities[1].api.error, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(sink.activities[2].api.error, nullptr);
  EXPECT_STREQ(sink.activities[3].api.error, "unknown runtime error");
}

TEST(Decode, OverheadKindsHaveTheirNames) {
  const std::pair<std::uint32_t, const char*> kinds[] = {{0, "OverheadUnknown"},
                                                         {1, "OverheadDriverCompiler"},
                                                         {1 << 16, "OverheadBufferFlush"},
                                                         {2 << 16, "OverheadInstrumentation"},
                                                         {3 << 16, "OverheadResource"},
                                                         {4 << 16, "OverheadModuleLoading"},
                                                         {5 << 16, "OverheadLazyFunctionLoading"},
                                                         {6 << 16, "OverheadCommandBufferFull"},
                                                         {7 << 16, "OverheadActivityBufferRequest"},
                                                         {8 << 16, "OverheadUvmActivityInit"},
                                                         {9 << 16, "OverheadUnknown"},
                                                         {7, "OverheadUnknown"}};
  for (const auto& [kind, name] : kinds) {
    Activity activity;
    ASSERT_TRUE(decode_overhead(Raw(17, 40).put(4, kind).record(), activity));
    EXPECT_EQ(fixed_operation_name(ActivityKind::kOverhead, activity.operation), name) << kind;
  }
}

// The numbers are the header's, the names those of docs/gpu.md.
TEST(Decode, OperationsHaveTheirNames) {
  const std::pair<int, const char*> copies[] = {
      {CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN, "MemcpyUnknown"}, {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, "MemcpyHtoD"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, "MemcpyDtoH"},       {CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, "MemcpyHtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, "MemcpyAtoH"},       {CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, "MemcpyAtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, "MemcpyAtoD"},       {CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, "MemcpyDtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, "MemcpyDtoD"},       {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, "MemcpyHtoH"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, "MemcpyPtoP"},       {11, "MemcpyUnknown"}};
  const auto name_of = [](const Activity& activity) { return fixed_operation_name(activity.kind, activity.operation); };
  Activity activity;
  for (const auto& [kind, name] : copies) {
    ASSERT_TRUE(decode_memcpy(Raw(1, 96).put(4, static_cast<std::uint8_t>(kind)).record(), activity));
    EXPECT_EQ(name_of(activity), name);
  }
  const std::pair<int, const char*> syncs[] = {
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN, "SynchronizeUnknown"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, "EventSynchronize"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, "StreamWaitEvent"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, "StreamSynchronize"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, "ContextSynchronize"},
      {5, "SynchronizeUnknown"}};
  for (const auto& [type, name] : syncs) {
    ASSERT_TRUE(decode_sync(Raw(38, 56).put(4, type).record(), activity));
    EXPECT_EQ(name_of(activity), name);
  }
  const std::pair<int, const char*> counters[] = {
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN, "UnifiedMemoryCounter"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, "UnifiedMemoryTransferHtoD"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, "UnifiedMemoryTransferDtoH"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, "UnifiedMemoryCpuPageFault"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, "UnifiedMemoryGpuPageFault"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, "UnifiedMemoryThrashing"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, "UnifiedMemoryThrottling"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, "UnifiedMemoryRemoteMap"},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, "UnifiedMemoryTransferDtoD"},
      {9, "UnifiedMemoryCounter"}};
  for (const auto& [counter, name] : counters) {
    ASSERT_TRUE(decode_unified_memory(Raw(25, 64).put(4, counter).record(), activity));
    EXPECT_EQ(name_of(activity), name);
  }
  const char* const memory[] = {"MemoryOperationUnknown", "MemoryAllocation", "MemoryRelease",
                                "MemoryOperationUnknown"};
  const char* const pools[] = {"MemoryOperationUnknown", "MemoryPoolCreation", "MemoryPoolDestruction",
                               "MemoryPoolTrimming", "MemoryOperationUnknown"};
  for (std::uint32_t operation = 0; operation < std::size(memory); ++operation) {
    ASSERT_TRUE(decode_memory(Raw(49, 128).put(4, operation).record(), activity));
    EXPECT_EQ(name_of(activity), memory[operation]) << operation;
  }
  for (std::uint32_t operation = 0; operation < std::size(pools); ++operation) {
    ASSERT_TRUE(decode_memory_pool(Raw(50, 80).put(4, operation).record(), activity));
    EXPECT_EQ(name_of(activity), pools[operation]) << operation;
  }
}

TEST(Decode, UnifiedMemoryKeepsOnlyWhatMeansSomething) {
  for (std::uint32_t counter = 0; counter <= 9; ++counter) {
    Activity activity;
    Raw raw(25, 64);
    raw.put(4, counter).put(16, std::uint64_t{50}).put(24, std::uint64_t{60}).put(40, 1u).put(44, 2u);
    ASSERT_TRUE(decode_unified_memory(raw.record(), activity));
    const bool point = counter == 3 || counter == 5 || counter == 7;
    EXPECT_EQ(activity.end, point ? 0u : 60u) << counter;
    if (counter == 1) {
      EXPECT_EQ(activity.device, 2u);
    }
    if (counter == 2 || counter == 4) {
      EXPECT_EQ(activity.device, 1u);
    }
    if (counter == 3) {
      EXPECT_EQ(activity.unified.src, kNoId);
    }
  }
}

}  // namespace
}  // namespace dft::gpu::cupti
