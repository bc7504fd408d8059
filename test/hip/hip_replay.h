// SPDX-License-Identifier: MIT
// Purpose: the source with its thread over the stand-in for rocprofiler-sdk, as the session runs it.
#pragma once

#include <unistd.h>

#include "replay.h"
#include "sources/gpu/gpu_source.h"

namespace dft::gpu {

using standin::Event;

struct Tool {
  Settings settings;
  rocprof::RocprofBackend* backend = nullptr;
  rocprof::Library opened;
  int asked = 0;
  bool running = false;
};
inline Tool* tool = nullptr;

inline int initialize(void (*)(), void*) {
  tool->backend->make(tool->opened, tool->settings);
  tool->running = hip_source.start(tool->settings, *tool->backend);
  return 0;
}
inline void* configure(std::uint32_t, const char*, std::uint32_t, void*) {
  static rocprof::ConfigureResult result = {sizeof result, initialize, nullptr, nullptr};
  ++tool->asked;
  return &result;
}
inline const standin::Configure kTools[] = {configure};

class HipReplay : public testing::TestWithParam<SdkRelease> {
 protected:
  void prepare(const std::string& words, Settings settings) {
    sdk_.configure((std::string(GetParam().words) + " " + words).c_str());
    base::clock_start(false);  // ticks are nanoseconds
    drained_.begin({});
    std::string_view unknown;
    if (settings.categories == Settings{}.categories) settings.categories = rocprof::kind_bits(nullptr, 0, &unknown);
    if (settings.amd_device == Settings{}.amd_device) settings.amd_device = "/dev/null";
    settings.buffer_size = 1 << 16;
    settings.buffer_limit = 64 << 20;             // of the first start: a pool stays
    settings.flush_interval_ns = 3600 * kSecond;  // only what the tests ask for
    tool_ = Tool();
    tool_.settings = settings;
    tool_.backend = new_backend();
    ASSERT_TRUE(rocprof::library_of(code_of(GetParam()), &tool_.opened));
    tool = &tool_;
  }
  void begin(const std::string& words = "", Settings settings = {}) {
    prepare(words, settings);
    sdk_.attach(kTools, 1);
  }
  std::vector<std::string> end() {
    EXPECT_TRUE(hip_source.stop());
    drained_.end();
    const auto lines = lines_of(drained_, 0, model::TimeMetric::kUs);
    if (std::getenv("DFT_SHOW") != nullptr) {
      for (const std::string& line : lines) std::puts(line.c_str());
    }
    return lines;
  }
  static Settings only(std::initializer_list<std::string_view> kinds) {
    Settings out;
    std::string_view unknown;
    out.categories = rocprof::kind_bits(kinds.begin(), kinds.size(), &unknown);
    return out;
  }
  bool is_1() const { return sdk_.release() == standin::Release::k10; }

  // A launch as the runtime does it, of kernel `kernel`.
  void launch(std::uint64_t kernel = 7) {
    sdk_.enter("HIP_RUNTIME_API", "hipModuleLaunchKernel");
    sdk_.enter("HSA_CORE_API", "hsa_signal_store_screlease");
    Event e = dispatch(kernel);
    sdk_.work(e);
    sdk_.leave(0);
    sdk_.leave(0);
  }
  static Event dispatch(std::uint64_t kernel) {
    Event e;
    e.kind = "KERNEL_DISPATCH";
    e.operation = "KERNEL_DISPATCH_COMPLETE";
    e.begin = standin::now_ns();
    e.end = standin::now_ns() + 1;
    e.agent = standin::kGpuAgent;
    e.queue = 3;
    e.kernel = kernel;
    e.thread = static_cast<std::uint64_t>(getpid());
    return e;
  }
  void symbol(std::uint64_t kernel = 7) { sdk_.symbol(true, kernel, "_ZN5train5scaleIfEEvPT_i.kd"); }

  standin::Sdk& sdk_ = sdk_of(GetParam());
  Tool tool_;
  record::DrainedRecords drained_;
};
inline constexpr const char* kScale = R"x("name":"void train::scale<float>(float*, int)","cat":"KERNEL_DISPATCH")x";

inline std::uint64_t number_after(const std::string& line, const std::string& key) {
  const std::size_t at = line.find("\"" + key + "\":");
  return at == std::string::npos ? ~std::uint64_t{0} : std::strtoull(&line[at + key.size() + 3], nullptr, 10);
}
// The counts of the losses of that cause, summed.
inline std::uint64_t lost(const std::vector<std::string>& lines, const std::string& cause) {
  std::uint64_t sum = 0;
  for (const std::string& line : lines) {
    if (line.find("\"cause\":\"" + cause + "\"") != std::string::npos && line.find("\"count\":") != std::string::npos)
      sum += number_after(line, "count");
  }
  return sum;
}

}  // namespace dft::gpu
