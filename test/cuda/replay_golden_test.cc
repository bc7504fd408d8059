// SPDX-License-Identifier: MIT
// A recording through the whole backend gives, byte for byte, the lines that are committed. DFT_UPDATE_GOLDEN=1 writes
// them anew; look at the difference.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "replay.h"
#include "sources/gpu/activity_writer.h"

namespace dft::gpu {
namespace {

constexpr std::uint64_t kRecorded = 1'700'000'000'000'000'000;  // as in make_synthetic.cc
constexpr std::uint64_t kSecond = 1'000'000'000;

std::vector<std::string> replay(Settings settings, const std::string& words = "",
                                const std::string& recording = "synthetic.cuptirec") {
  Standin standin;
  standin.configure(words, recording);
  static BufferPool pool;
  EXPECT_TRUE(pool.reserve(1 << 16, 64 << 20, nullptr));
  settings.vendor_library = DFT_STANDIN;
  record::DrainedRecords drained;
  drained.begin({});
  GpuClock clock;
  clock.add({kRecorded - kSecond, 1 * kSecond, 1 * kSecond, 40});
  clock.add({kRecorded + kSecond, 3 * kSecond, 3 * kSecond, 40});
  const auto fresh = std::make_unique<ActivityWriter>();  // as in a process of its own
  ActivityWriter& writer = *fresh;
  cupti::CuptiBackend backend;
  Statuses statuses;
  writer.configure(settings, backend, clock);
  EXPECT_TRUE(backend.start(settings, pool, statuses));
  backend.flush(false);
  pool.drain([&](const RawBuffer& buffer) {
    writer.arrived_at(kRecorded + kSecond);
    backend.decode(buffer, writer);
  });
  backend.collect_losses(writer);
  backend.stop();
  backend.release();
  drained.end();
  return lines_of(drained, kRecorded - 2 * kSecond, settings.time_metric);
}

void expect_golden(const std::vector<std::string>& lines, const char* name) {
  expect_lines(lines, std::string(DFT_GOLDEN_DIR) + "/cuda/" + name);
}

// Those of real hardware too, where there are any.
TEST(ReplayGolden, EveryRecordingQuiet) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(DFT_RECORDINGS)) {
    if (file.path().extension() == ".cuptirec") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename());
    expect_golden(replay(Settings{}, "", file.filename()), (file.stem().string() + "-quiet.jsonl").c_str());
  }
}

TEST(ReplayGolden, EveryKindAllCallsNanoseconds) {
  Settings settings;
  settings.api = ApiMode::kAll;
  settings.time_metric = model::TimeMetric::kNs;
  expect_golden(replay(settings), "synthetic-all-ns.jsonl");
}

TEST(ReplayGolden, ZeroStampsUnknownKindsAndDropsAreSaid) {
  expect_golden(replay(Settings{}, "zero_every=2 zero_end_every=3 unknown=2 drops=7"), "synthetic-faults.jsonl");
}

TEST(ReplayGolden, ShortAndMangledNames) {
  Settings settings;
  settings.categories = 1u << static_cast<unsigned>(ActivityKind::kKernel);
  settings.kernel_names = KernelNames::kShort;
  const auto shorts = replay(settings);
  EXPECT_EQ(count(shorts, R"("name":"vector_add","cat":"CUDA_KERNEL")"), 3u);
  EXPECT_EQ(count(shorts, "CUDA_MEMCPY"), 0u);
  settings.kernel_names = KernelNames::kMangled;
  EXPECT_EQ(count(replay(settings), R"("name":"_ZN5train10vector_addIfLi128EEEvPKT_S3_PS1_i","cat":"CUDA_KERNEL")"),
            2u);
}

TEST(ReplayGolden, CategoriesAreChosenByName) {
  const std::string_view names[] = {"CUDA_KERNEL", "CUDA_SYNC", "CUDA_KERNELS", "nothing"};
  std::string_view unknown;
  Settings settings;
  settings.categories = category_bits(cupti::backend, names, 4, &unknown);
  EXPECT_EQ(unknown, "CUDA_KERNELS");
  const auto lines = replay(settings);
  EXPECT_EQ(count(lines, "\"cat\":\"CUDA_"), 6u);
  EXPECT_EQ(count(lines, "CUDA_KERNEL") + count(lines, "CUDA_SYNC"), 6u);
  const std::string_view all[] = {"default"};
  EXPECT_EQ(category_bits(cupti::backend, all, 1, &unknown), Settings{}.categories);
  EXPECT_EQ(category_bits(cupti::backend, nullptr, 0, &unknown), Settings{}.categories);
}

TEST(ReplayGolden, NoApiModeHasNoCalls) {
  Settings settings;
  settings.api = ApiMode::kNone;
  const auto lines = replay(settings);
  EXPECT_EQ(count(lines, "CUDA_RUNTIME_API") + count(lines, "CUDA_DRIVER_API"), 0u);
  EXPECT_EQ(count(lines, "CUDA_KERNEL"), 4u);
}

}  // namespace
}  // namespace dft::gpu
