// SPDX-License-Identifier: MIT
// NVTX's side is played by tables as its header has them.
#include "sources/gpu/nvtx.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "record/drained_records_for_test.h"

namespace dft::gpu {
namespace {

using Function = void (*)();
Function core[16], core2[16];
Function* core_table[17];
Function* core2_table[17];

struct Callbacks {
  std::size_t size;
  int (*get_module)(std::int32_t, Function***, unsigned*);
};

int get_module(std::int32_t module, Function*** table, unsigned* size) {
  if (module != 1 && module != 5) return 0;
  *table = module == 1 ? core_table : core2_table;
  *size = 16;
  return 1;
}

const void* get_table(std::uint32_t id) {
  static const Callbacks callbacks{sizeof(Callbacks), &get_module};
  return id == 1 ? &callbacks : nullptr;
}

struct Event {
  std::uint16_t version = 3, size = 48;
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0, reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 1, padding = 0;
  const void* message = nullptr;
};

template <typename F>
F function(Function (&table)[16], unsigned index) {
  return reinterpret_cast<F>(table[index]);
}
int push(const char* text) { return function<int (*)(const char*)>(core, 9)(text); }
int pop() { return function<int (*)()>(core, 11)(); }

class NvtxTest : public testing::Test {
 protected:
  void SetUp() override {
    for (unsigned i = 0; i < 16; ++i) core_table[i] = &core[i], core2_table[i] = &core2[i];
    ASSERT_EQ(nvtx::initialize(&get_table), 1);
    nvtx::record_ranges(true);
    drained_.begin({});
  }
  const record::CopiedRecord& only(const char* name) {
    static const record::CopiedRecord none{std::vector<std::uint64_t>(4)};
    const record::CopiedRecord* found = &none;
    unsigned count = 0;
    for (const record::CopiedRecord& record : drained_.records) {
      model::SiteDef site{};
      if (!record::recorder.definitions.site(record.header().site, site) || site.name != name) continue;
      EXPECT_EQ(site.cat, "CUDA_MARKER");
      EXPECT_EQ(site.layer, model::Layer::kCuda);
      found = &record;
      ++count;
    }
    EXPECT_EQ(count, 1u) << name;
    return *found;
  }
  record::DrainedRecords drained_;
};

TEST_F(NvtxTest, PushAndPopPairToOneEventAndSayTheDepth) {
  EXPECT_EQ(push("outer"), 0);
  EXPECT_EQ(push("inner"), 1);
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(pop(), 0);
  EXPECT_EQ(pop(), -1);
  drained_.end();
  const auto outer = only("outer").header();
  const auto inner = only("inner").header();
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.end, outer.end);
  EXPECT_LT(inner.begin, inner.end);
}

TEST_F(NvtxTest, AttributesAreArgs) {
  Event event;
  event.category = 4;
  event.color_type = 1;
  event.color = 0xff00aa55;
  event.payload_type = 2;
  event.payload = static_cast<std::uint64_t>(-3);
  event.message = "with attributes";
  const void* domain = function<const void* (*)(const char*)>(core2, 12)("trainer");
  EXPECT_EQ(function<int (*)(const void*, const Event*)>(core2, 4)(domain, &event), 0);
  EXPECT_EQ(pop(), -1);  // the default domain has nothing open
  EXPECT_EQ(function<int (*)(const void*)>(core2, 5)(domain), 0);
  drained_.end();
  const auto& record = only("with attributes");
  EXPECT_EQ(record.text("domain"), "trainer");
  EXPECT_EQ(record.arg("category"), 4u);
  EXPECT_EQ(record.arg("color"), 0xff00aa55u);
  EXPECT_EQ(static_cast<std::int64_t>(record.arg("payload")), -3);
}

TEST_F(NvtxTest, RegisteredAndWideTexts) {
  Event event;
  event.message_type = 3;
  event.message = function<const void* (*)(const void*, const char*)>(core2, 10)(nullptr, "registered");
  function<void (*)(const Event*)>(core, 1)(&event);
  function<void (*)(const wchar_t*)>(core, 3)(L"gr\u00fc\u00df \U0001F600");
  drained_.end();
  EXPECT_EQ(only("registered").header().flags & model::kFlagInstant, model::kFlagInstant);
  only("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
}

TEST_F(NvtxTest, RangesMayEndOnAnotherThread) {
  const std::uint64_t id = function<std::uint64_t (*)(const char*)>(core, 5)("travelling");
  std::thread([&] { function<void (*)(std::uint64_t)>(core, 7)(id); }).join();
  function<void (*)(std::uint64_t)>(core, 7)(id);     // again: ignored
  function<void (*)(std::uint64_t)>(core, 7)(12345);  // never given out
  drained_.end();
  only("travelling");
}

TEST_F(NvtxTest, SwitchedOffItKeepsTheDepthOnly) {
  nvtx::record_ranges(false);
  EXPECT_EQ(push("unseen"), 0);
  EXPECT_EQ(push("unseen"), 1);
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(pop(), 0);
  drained_.end();
  EXPECT_EQ(drained_.events(), 0u);
}

TEST_F(NvtxTest, TooDeepStaysBalanced) {
  for (int i = 0; i < 300; ++i) push("deep");
  for (int i = 0; i < 300; ++i) pop();
  EXPECT_EQ(push("after"), 0);
  EXPECT_EQ(pop(), 0);
  drained_.end();
  only("after");
}

TEST_F(NvtxTest, EmptyTextsHaveAName) {
  push(nullptr);
  pop();
  drained_.end();
  only("marker");
}

TEST(Nvtx, AnOldInterfaceIsRefused) {
  EXPECT_EQ(nvtx::initialize(nullptr), 0);
  EXPECT_EQ(nvtx::initialize([](std::uint32_t) -> const void* { return nullptr; }), 0);
}

}  // namespace
}  // namespace dft::gpu
