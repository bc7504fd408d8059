// SPDX-License-Identifier: MIT
// One record of each kind, of every release, through the whole backend gives, byte for byte, the lines that are
// committed. DFT_UPDATE_GOLDEN=1 writes them anew; look at the difference.
#include <memory>

#include "replay.h"
#include "sources/gpu/activity_writer.h"

namespace dft::gpu {
namespace {

constexpr std::uint64_t kPlayed = 90'000'000'000'000;  // since boot

struct Replay {
  Settings settings;
  rocprof::RocprofBackend* backend = new_backend();
  Statuses statuses;
  rocprof::Library opened;
  bool made = false;
};
Replay* current = nullptr;

int initialize(void (*)(), void*) {
  current->made = current->backend->make(current->opened, current->settings);
  return 0;
}
void* configure(std::uint32_t, const char*, std::uint32_t, void*) {
  static rocprof::ConfigureResult result = {sizeof result, initialize, nullptr, nullptr};
  return &result;
}

using Play = void (*)(standin::Sdk& sdk);
void everything(standin::Sdk& sdk) { play_everything(sdk, kPlayed); }
void two_readings(GpuClock& clock) {
  clock.add({kPlayed - kSecond, 1 * kSecond, 1 * kSecond, 40});
  clock.add({kPlayed + kSecond, 3 * kSecond, 3 * kSecond, 40});
}

std::vector<std::string> replay(const SdkRelease& release, Settings settings = {}, const std::string& words = "",
                                Play play = everything, void (*read)(GpuClock&) = two_readings,
                                bool library_ends_first = false) {
  standin::Sdk& sdk = sdk_of(release);
  sdk.configure((std::string(release.words) + " " + words).c_str());
  static BufferPool pool;
  EXPECT_TRUE(pool.reserve(1 << 16, 64 << 20, nullptr));
  Replay now;
  current = &now;
  settings.amd_device = "/dev/null";  // can be opened, as a machine's
  now.settings = settings;
  EXPECT_TRUE(rocprof::library_of(code_of(release), &now.opened));
  record::DrainedRecords drained;
  drained.begin({});
  GpuClock clock;
  read(clock);
  const auto fresh = std::make_unique<ActivityWriter>();  // as in a process of its own
  ActivityWriter& writer = *fresh;
  writer.configure(settings, *now.backend, clock);
  const standin::Configure tools[] = {configure};
  sdk.attach(tools, 1);
  EXPECT_TRUE(now.made);
  EXPECT_TRUE(now.backend->start(settings, pool, now.statuses));
  play(sdk);
  for (const bool forced : {false, true}) {
    now.backend->flush(forced);
    if (library_ends_first) sdk.finalize();
    pool.drain([&](const RawBuffer& buffer) {
      writer.arrived_at(kPlayed + 60 * kSecond);
      now.backend->decode(buffer, writer);
    });
    if (forced) now.backend->stop();
    now.backend->collect_losses(writer);
  }
  drained.end();
  sdk.finalize();
  return lines_of(drained, kPlayed - 2 * kSecond, settings.time_metric);
}

class HipGolden : public testing::TestWithParam<SdkRelease> {
 protected:
  static Settings settings(std::initializer_list<std::string_view> kinds = {}) {
    Settings out;
    std::string_view unknown;
    out.categories = rocprof::kind_bits(kinds.begin(), kinds.size(), &unknown);
    EXPECT_TRUE(unknown.empty()) << unknown;
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, HipGolden, testing::Values(kSdk05, kSdk06, kSdk10, kSdk13),
                         [](const auto& release) { return std::string("Sdk") + release.param.name; });

TEST_P(HipGolden, EveryDefaultKindQuiet) {
  expect_lines(replay(GetParam(), settings()),
               std::string(DFT_GOLDEN_DIR) + "/hip/quiet-" + GetParam().name + ".jsonl");
}

TEST_P(HipGolden, EveryKindAllCallsNanoseconds) {
  Settings chosen = settings({"all", "HIP_RUNTIME_API_EXT"});
  chosen.api = ApiMode::kAll;
  chosen.time_metric = model::TimeMetric::kNs;
  expect_lines(replay(GetParam(), chosen), std::string(DFT_GOLDEN_DIR) + "/hip/all-ns-" + GetParam().name + ".jsonl");
}

TEST_P(HipGolden, NoApiModeHasNoCalls) {
  Settings chosen = settings();
  chosen.api = ApiMode::kNone;
  const auto lines = replay(GetParam(), chosen);
  EXPECT_EQ(count(lines, R"("cat":"HIP_RUNTIME_API")") + count(lines, R"("cat":"HSA_)"), 0u);
  EXPECT_EQ(count(lines, R"("cat":"KERNEL_DISPATCH")"), 2u);
}

TEST_P(HipGolden, KindsAreChosenByName) {
  const auto lines = replay(GetParam(), settings({"KERNEL_DISPATCH", "MEMORY_COPY"}));
  EXPECT_EQ(count(lines, R"("cat":"KERNEL_DISPATCH")"), 2u);
  EXPECT_EQ(count(lines, R"("cat":"MEMORY_COPY")"), 1u);
  EXPECT_EQ(count(lines, R"("ph":1)"), 3u);
}

TEST_P(HipGolden, ShortAndMangledNames) {
  Settings chosen = settings({"KERNEL_DISPATCH"});
  chosen.kernel_names = KernelNames::kShort;
  EXPECT_EQ(count(replay(GetParam(), chosen), R"("name":"scale","cat":"KERNEL_DISPATCH")"), 1u);
  chosen.kernel_names = KernelNames::kMangled;
  EXPECT_EQ(count(replay(GetParam(), chosen), R"("name":"_ZN5train5scaleIfEEvPT_i","cat":"KERNEL_DISPATCH")"), 1u);
}

// The library's clock runs 300 millionths slower than the trace's for ten seconds, then it is one second ahead.
constexpr std::uint64_t kSlow = 300'000;  // nanoseconds a second
void slewed_and_stepped(GpuClock& clock) {
  for (std::uint64_t i = 0; i <= 15; ++i) {
    const std::uint64_t ticks = (i + 1) * kSecond;
    const std::uint64_t vendor = i <= 10 ? kPlayed + i * (kSecond - kSlow) : kPlayed + kSecond + i * kSecond;
    EXPECT_EQ(clock.add({vendor, ticks, ticks, 40}) != 0, i == 11) << i;
  }
}
void a_kernel_each_second(standin::Sdk& sdk) {
  for (std::uint64_t i = 0; i < 15; ++i) {
    if (i == 10) continue;  // the clock was set somewhere in this second
    standin::Event e;
    e.kind = "KERNEL_DISPATCH";
    e.operation = "KERNEL_DISPATCH_COMPLETE";
    e.begin = i < 10 ? kPlayed + i * (kSecond - kSlow) + (kSecond - kSlow) / 2
                     : kPlayed + kSecond + i * kSecond + kSecond / 2;
    e.end = e.begin + 1000;
    e.kernel = 7;
    sdk.emit(e);
  }
}
TEST_P(HipGolden, TimesFollowAClockThatIsSlewedAndSet) {
  Settings chosen = settings({"KERNEL_DISPATCH"});
  chosen.time_metric = model::TimeMetric::kNs;
  const auto lines = replay(GetParam(), chosen, "", a_kernel_each_second, slewed_and_stepped);
  std::uint64_t second = 0;
  for (const std::string& line : lines) {
    if (line.find(R"("cat":"KERNEL_DISPATCH")") == std::string::npos) continue;
    if (second == 10) ++second;
    const std::uint64_t wanted = kPlayed - 2 * kSecond + (second + 1) * kSecond + kSecond / 2;
    const std::uint64_t ts = std::strtoull(&line[line.find("\"ts\":") + 5], nullptr, 10);
    EXPECT_LE(ts > wanted ? ts - wanted : wanted - ts, 1u) << second;
    ++second;
  }
  EXPECT_EQ(second, 15u);
  EXPECT_EQ(count(lines, "clock_suspect"), 0u);
}

TEST_P(HipGolden, WhatIsReadAfterTheLibrarysEndIsTheSame) {
  EXPECT_EQ(replay(GetParam(), settings(), "", everything, two_readings, true), replay(GetParam(), settings()));
}

// 0.4 is laid out as 0.5.
TEST(HipReleases, WhatIsReadOf04IsWhatIsReadOf05) { EXPECT_EQ(replay(kSdk04), replay(kSdk05)); }

}  // namespace
}  // namespace dft::gpu
