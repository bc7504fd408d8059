// SPDX-License-Identifier: MIT
// Records of each generation, and of sizes that none has; whole programs are replayed in test/hip.
#include "sources/gpu/rocprof/decode.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sources/gpu/rocprof/fake_functions.h"

namespace dft::gpu::rocprof {
namespace {

struct Seen {
  NamedActivity activity;
  std::map<std::string, std::int64_t> args;
  std::int64_t arg(const std::string& key) const { return args.count(key) != 0 ? args.at(key) : -1; }
};
struct Sink final : ActivitySink {
  std::vector<Seen> seen;
  std::vector<std::string> details;
  std::uint64_t lost = 0;
  void activity(const Activity&) override {}
  void named(const NamedActivity& activity) override {
    Seen one{activity, {}};
    unsigned at = 0;
    for (unsigned i = 0; i < static_cast<unsigned>(Field::kCount); ++i) {
      if ((activity.fields >> i & 1u) == 0) continue;
      one.args[kFields[i].key] = static_cast<std::int64_t>(activity.values[at++]);
    }
    EXPECT_EQ(at, activity.value_count);  // in the table's order, each once
    seen.push_back(one);
  }
  void device(const DeviceFacts&) override {}
  void context(const ContextFacts&) override {}
  void stream(const StreamFacts&) override {}
  void graph(const GraphFacts&) override {}
  void loss(LossCause, std::uint64_t count, std::uint64_t, const char* detail) override {
    lost += count;
    details.emplace_back(detail);
  }
};

constexpr std::uint64_t kGpu = 0x1000, kCpu = 0x2000;

class DecodeTest : public testing::Test {
 protected:
  void SetUp() override {
    fake_names = {{"NONE"}, {}, {}};
    for (const KindRow& row : kKindRows) fake_names.buffered.emplace_back(row.name);
    functions_ = fake_functions();
    ASSERT_TRUE(kinds_.configure(functions_));
    Agent agent{};
    agent.size = sizeof agent;
    agent.id.handle = kCpu;
    agent.type = 1;
    agents_.add(agent);
    agent.id.handle = kGpu;
    agent.type = kGpuAgent;
    agent.logical_node_id = 1;
    agent.node_id = 4;
    agents_.add(agent);
    use(Generation::k1);
  }
  void use(Generation generation, bool resolves = false, std::uint32_t kinds = kAllKinds) {
    decoder_.configure({kinds, generation, resolves}, kinds_, agents_, symbols_);
  }
  static std::uint32_t number(const char* kind) { return kind_index(kind) + 1; }
  // `size`: what the record says of itself, and how much of it there is.
  template <typename T>
  void put(const char* kind, T record, std::int32_t operation = 1, std::size_t size = sizeof(T)) {
    record.head = {size, number(kind), operation};
    put_bytes(number(kind), &record, size < sizeof record ? size : sizeof record, size);
  }
  void put_bytes(std::uint32_t kind, const void* record, std::size_t known, std::size_t size) {
    const Frame frame{static_cast<std::uint32_t>(size), kind};
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof frame + ((size + 7) & ~std::size_t{7}));
    std::memcpy(&bytes_[at], &frame, sizeof frame);
    std::memcpy(&bytes_[at + sizeof frame], record, known);
  }
  Sink& decode() {
    RawBuffer buffer;
    buffer.data = bytes_.data();
    buffer.valid = bytes_.size();
    decoder_.decode(buffer, sink_);
    bytes_.clear();
    return sink_;
  }
  const Seen& only() {
    decode();
    EXPECT_EQ(sink_.seen.size(), 1u);
    EXPECT_EQ(sink_.lost, 0u);
    static const Seen none{};
    return sink_.seen.empty() ? none : sink_.seen[0];
  }
  static KernelRecord kernel(std::uint64_t internal, std::uint64_t external) {
    KernelRecord record{};
    record.correlation = {internal, external};
    record.start = 10;
    record.end = 20;
    record.info.agent.handle = kGpu;
    record.info.queue.handle = 3;
    record.info.kernel = 7;
    record.info.dispatch = 5;
    record.info.grid[0] = 64;
    record.info.workgroup[2] = 8;
    record.info.group_segment_size = 1024;
    return record;
  }
  Functions functions_;
  KindTable kinds_;
  Agents agents_;
  Symbols symbols_;
  Decoder decoder_;
  std::vector<unsigned char> bytes_;
  Sink sink_;
};

TEST_F(DecodeTest, ACallOfEachGeneration) {
  ApiRecord<Correlation3> late{};
  late.correlation = {9, 1, 4};
  late.start = 100;
  late.end = 150;
  late.thread = 77;
  put("HIP_RUNTIME_API", late, 12);
  use(Generation::k1);
  decode();
  ApiRecord<Correlation2> early{};
  early.correlation = {9, 1};
  early.start = 100;
  early.end = 150;
  early.thread = 77;
  put("HIP_RUNTIME_API", early, 12);
  use(Generation::k05);
  decode();
  ASSERT_EQ(sink_.seen.size(), 2u);
  for (const Seen& seen : sink_.seen) {
    EXPECT_EQ(seen.activity.operation, 12);
    EXPECT_EQ(seen.activity.begin, 100u);
    EXPECT_EQ(seen.activity.end, 150u);
    EXPECT_EQ(seen.activity.tid, 77u);
    EXPECT_EQ(seen.arg("correlation_id"), 9);
    EXPECT_TRUE(seen.activity.is_call);
  }
  EXPECT_EQ(sink_.seen[0].arg("ancestor_id"), 4);
  EXPECT_EQ(sink_.seen[1].arg("ancestor_id"), -1);
}

TEST_F(DecodeTest, ASizeOfAnotherGenerationIsCountedAndNotRead) {
  put("HIP_RUNTIME_API", ApiRecord<Correlation2>{});
  put("HIP_RUNTIME_API", ApiRecord<Correlation2>{});
  decode();
  use(Generation::k05);
  put("HIP_RUNTIME_API", ApiRecord<Correlation3>{});
  put("MEMORY_COPY", CopyRecord{});
  decode();
  EXPECT_TRUE(sink_.seen.empty());
  EXPECT_EQ(sink_.lost, 4u);
  ASSERT_EQ(sink_.details.size(), 3u);
  EXPECT_EQ(sink_.details[0], "rocprofiler kind 1 (HIP_RUNTIME_API), 56 bytes");
}

TEST_F(DecodeTest, ARecordOfOneThatHasGrownIsReadAsFarAsItIsKnown) {
  ApiRecord<Correlation3> call{};
  call.correlation.internal = 9;
  put("HIP_RUNTIME_API", call, 1, sizeof call + 40);
  EXPECT_EQ(only().arg("correlation_id"), 9);
}

TEST_F(DecodeTest, UnknownKindsAreCountedBySizeAndTheRestIsRead) {
  std::vector<unsigned char> strange(96, 0);
  const RecordHead head{96, 90, 0};
  std::memcpy(strange.data(), &head, sizeof head);
  put_bytes(90, strange.data(), 96, 96);
  put_bytes(90, strange.data(), 96, 96);
  ApiRecord<Correlation3> call{};
  put("HIP_RUNTIME_API", call);
  decode();
  EXPECT_EQ(sink_.seen.size(), 1u);
  EXPECT_EQ(sink_.lost, 2u);
  EXPECT_EQ(sink_.details, std::vector<std::string>{"rocprofiler kind 90, 96 bytes"});
}

TEST_F(DecodeTest, FramesThatMakeNoSenseEndTheBuffer) {
  put("HIP_RUNTIME_API", ApiRecord<Correlation3>{});
  const Frame wrong{1 << 20, 1};
  bytes_.insert(bytes_.end(), reinterpret_cast<const unsigned char*>(&wrong),
                reinterpret_cast<const unsigned char*>(&wrong) + sizeof wrong);
  bytes_.resize(bytes_.size() + 64);
  decode();
  EXPECT_EQ(sink_.seen.size(), 1u);
  EXPECT_EQ(sink_.details, std::vector<std::string>{"records out of order"});
}

TEST_F(DecodeTest, AKernelHasItsPlaceAndShape) {
  symbols_.add(7, "_Z4workv.kd");
  put("KERNEL_DISPATCH", kernel(9, ExternalId::make(2, 6)), 2, 184);
  const Seen& seen = only();
  EXPECT_STREQ(seen.activity.symbol, "_Z4workv.kd");
  EXPECT_TRUE(seen.activity.is_work && seen.activity.is_kernel);
  EXPECT_EQ(seen.activity.lane, LaneKind::kStream);
  EXPECT_EQ(seen.activity.device, 0u);
  EXPECT_EQ(seen.activity.stream, 5u);
  EXPECT_EQ(seen.arg("agent_id"), 1);
  EXPECT_EQ(seen.arg("queue_id"), 3);
  EXPECT_EQ(seen.arg("stream_id"), 5);
  EXPECT_EQ(seen.arg("dispatch_id"), 5);
  EXPECT_EQ(seen.arg("grid_x"), 64);
  EXPECT_EQ(seen.arg("workgroup_z"), 8);
  EXPECT_EQ(seen.arg("group_segment_size"), 1024);
  EXPECT_EQ(seen.arg("correlation_id"), 9);  // HSA calls are not traced: it is the HIP call's already
}

TEST_F(DecodeTest, WithoutAStreamItStandsOnItsQueue) {
  symbols_.add(7, "_Z4workv.kd");
  put("KERNEL_DISPATCH", kernel(9, 0), 2, 184);
  EXPECT_EQ(only().activity.lane, LaneKind::kQueue);
  EXPECT_EQ(only().activity.stream, 3u);
  EXPECT_EQ(only().arg("stream_id"), -1);
}

TEST_F(DecodeTest, AKernelWaitsForItsSymbolButNotForEver) {
  put("KERNEL_DISPATCH", kernel(9, 0), 2, 184);
  decode();
  EXPECT_TRUE(sink_.seen.empty());
  decoder_.release_waiting(sink_, false);
  EXPECT_TRUE(sink_.seen.empty());
  symbols_.add(7, "_Z4workv.kd");
  decoder_.release_waiting(sink_, false);
  ASSERT_EQ(sink_.seen.size(), 1u);
  EXPECT_STREQ(sink_.seen[0].activity.symbol, "_Z4workv.kd");
  KernelRecord other = kernel(10, 0);
  other.info.kernel = 8;
  put("KERNEL_DISPATCH", other, 2, 184);
  decode();
  for (int round = 0; round < 3; ++round) decoder_.release_waiting(sink_, false);
  EXPECT_EQ(sink_.seen.size(), 2u);
  put("KERNEL_DISPATCH", other, 2, 184);
  decode();
  decoder_.release_waiting(sink_, true);
  ASSERT_EQ(sink_.seen.size(), 3u);
  EXPECT_EQ(sink_.seen[2].activity.symbol, nullptr);
  EXPECT_EQ(sink_.seen[2].arg("kernel_id"), 8);
}

TEST_F(DecodeTest, WorkOfAHsaCallRefersToTheHipCallAroundIt) {
  use(Generation::k1, true);
  symbols_.add(7, "_Z4workv.kd");
  ApiRecord<Correlation3> hsa{};
  hsa.correlation = {12, 0, 11};
  put("HSA_CORE_API", hsa);
  put("KERNEL_DISPATCH", kernel(12, 0), 2, 184);                        // by the ancestor
  put("KERNEL_DISPATCH", kernel(15, ExternalId::make(14, 0)), 2, 184);  // the HSA call's record is still to come
  ApiRecord<Correlation3> alone{};
  alone.correlation = {20, 0, 0};
  put("HSA_CORE_API", alone);
  put("KERNEL_DISPATCH", kernel(20, ExternalId::make(14, 0)), 2, 184);  // HSA called without HIP, after a HIP call
  put("KERNEL_DISPATCH", kernel(30, 0), 2, 184);
  decode();
  std::vector<std::int64_t> ids;
  for (const Seen& seen : sink_.seen) {
    if (seen.activity.is_work) ids.push_back(seen.arg("correlation_id"));
  }
  EXPECT_EQ(ids, (std::vector<std::int64_t>{11, 14, 20, 30}));
}

TEST_F(DecodeTest, CopiesOfEachGeneration) {
  CopyRecord copy{};
  copy.correlation.internal = 9;
  copy.start = 10;
  copy.end = 30;
  copy.src_agent.handle = kCpu;
  copy.dst_agent.handle = kGpu;
  copy.bytes = 4096;
  copy.dst_address = 0xabc;
  put("MEMORY_COPY", copy, 2);
  decode();
  use(Generation::k05);
  put("MEMORY_COPY", copy, 2, kCopyRecordBefore1);
  decode();
  ASSERT_EQ(sink_.seen.size(), 2u);
  for (const Seen& seen : sink_.seen) {
    EXPECT_EQ(seen.arg("bytes"), 4096);
    EXPECT_EQ(seen.arg("src_agent_id"), 0);
    EXPECT_EQ(seen.arg("dst_agent_id"), 1);
    EXPECT_EQ(seen.activity.lane, LaneKind::kCopies);
    EXPECT_EQ(seen.activity.device, 0u);
  }
  EXPECT_EQ(sink_.seen[0].arg("dst_address"), 0xabc);
  EXPECT_EQ(sink_.seen[0].arg("src_address"), -1);
  EXPECT_EQ(sink_.seen[1].arg("dst_address"), -1);
}

TEST_F(DecodeTest, ScratchMemoryOfEachGeneration) {
  const auto fill = [](auto& scratch) {
    scratch.correlation.internal = 9;
    scratch.agent.handle = kGpu;
    scratch.queue.handle = 3;
    scratch.start = 10;
    scratch.end = 11;
    scratch.flags = 2;
  };
  ScratchRecord05 of_05{};
  ScratchRecord06 of_06{};
  ScratchRecord1 of_1{};
  fill(of_05), fill(of_06), fill(of_1);
  of_1.bytes = 512;
  use(Generation::k05), put("SCRATCH_MEMORY", of_05), decode();
  use(Generation::k06), put("SCRATCH_MEMORY", of_06), decode();
  use(Generation::k1), put("SCRATCH_MEMORY", of_1), put("SCRATCH_MEMORY", of_1, 1, kScratchRecord1Least), decode();
  ASSERT_EQ(sink_.seen.size(), 4u);
  for (const Seen& seen : sink_.seen) {
    EXPECT_EQ(seen.arg("agent_id"), 1);
    EXPECT_EQ(seen.arg("queue_id"), 3);
    EXPECT_EQ(seen.arg("correlation_id"), 9);
    EXPECT_EQ(seen.arg("flags"), 2);
    EXPECT_EQ(seen.activity.begin, 10u);
  }
  EXPECT_EQ(sink_.seen[2].arg("bytes"), 512);
  EXPECT_EQ(sink_.seen[3].arg("bytes"), -1);
}

TEST_F(DecodeTest, AFreeTellsWhatIsKnownOfIt) {
  AllocationRecord<Correlation3> allocation{};
  allocation.correlation = {9, 0, 0};
  allocation.thread = 77;
  allocation.agent.handle = ~std::uint64_t{0};
  allocation.address = 0x100;
  put("MEMORY_ALLOCATION", allocation, 3);
  EXPECT_EQ(only().arg("address"), 0x100);
  EXPECT_EQ(only().arg("agent_id"), -1);
  EXPECT_EQ(only().arg("bytes"), -1);
  EXPECT_EQ(only().activity.tid, 77u);
}

TEST_F(DecodeTest, PageFaultsAndMigrationsAreNotMistakenForEachOther) {
  use(Generation::k05);
  PageMigrationRecord05 page{};
  page.start = 5;
  page.end = 6;
  page.pid = 42;
  page.migrate = {0x1000, 0x2000, 0, 4, 4, 0, -1};
  put("PAGE_MIGRATION", page, 1);
  page.fault = {3, 4, 0x3000};
  put("PAGE_MIGRATION", page, 2);
  put("PAGE_MIGRATION", page, 9);
  decode();
  ASSERT_EQ(sink_.seen.size(), 2u);
  EXPECT_EQ(sink_.seen[0].arg("start_addr"), 0x1000);
  EXPECT_EQ(sink_.seen[0].arg("to_node"), 4);
  EXPECT_EQ(sink_.seen[0].arg("trigger"), -1);
  EXPECT_EQ(sink_.seen[0].activity.device, 0u);
  EXPECT_EQ(sink_.seen[1].arg("address"), 0x3000);
  EXPECT_EQ(sink_.seen[1].arg("read_fault"), 1);
  EXPECT_EQ(sink_.seen[1].arg("migrated"), 1);
  EXPECT_EQ(sink_.seen[1].arg("pid"), 42);
  EXPECT_EQ(sink_.lost, 1u);
}

TEST_F(DecodeTest, TheDriversOwnDropsAreALossToo) {
  KfdDroppedEvent dropped{};
  dropped.timestamp = 5;
  dropped.count = 17;
  put("KFD_EVENT_DROPPED_EVENTS", dropped, 0);
  decode();
  ASSERT_EQ(sink_.seen.size(), 1u);
  EXPECT_EQ(sink_.seen[0].arg("dropped_events_count"), 17);
  EXPECT_TRUE(sink_.seen[0].activity.is_instant);
  EXPECT_EQ(sink_.lost, 17u);
}

TEST_F(DecodeTest, TheDriversOwnDropsAreALossToo06) {
  use(Generation::k06);
  PageMigrationRecord06 page{};
  page.timestamp = 5;
  page.dropped = 17;
  put("PAGE_MIGRATION", page, 8);
  decode();
  ASSERT_EQ(sink_.seen.size(), 1u);
  EXPECT_EQ(sink_.seen[0].arg("dropped_events_count"), 17);
  EXPECT_EQ(sink_.lost, 17u);
}

TEST_F(DecodeTest, TheResultStandsAtTheEndOfLongCalls) {
  struct Long {
    RecordHead head;
    Correlation3 correlation;
    std::uint64_t start, end, thread, arguments[9];
    ApiResult result;
  } call{};
  call.result.error = 100;
  put("HIP_RUNTIME_API_EXT", call);
  EXPECT_EQ(only().arg("return_value"), 100);
}

TEST_F(DecodeTest, KindsThatAreNotWantedAreLeftOut) {
  use(Generation::k1, false, 1u << kind_index("MEMORY_COPY"));
  put("HIP_RUNTIME_API", ApiRecord<Correlation3>{});
  put("KERNEL_DISPATCH", kernel(9, 0), 2, 184);
  put("MEMORY_COPY", CopyRecord{});
  EXPECT_EQ(only().activity.kind, kind_index("MEMORY_COPY"));
}

}  // namespace
}  // namespace dft::gpu::rocprof
