// SPDX-License-Identifier: MIT
// Purpose: what cuptiGetVersion's number means: toolkits that answer it, and what must be avoided with it.
// Invariant: no record layout is chosen by it (layouts.h). Several toolkits answer the same number (14 is 11.1
// to 11.4), so
//            each question is answered as for the worst of them. What a library can do is asked of its symbols.
#pragma once

#include <cstdint>

namespace dft::gpu::cupti {

// CUDA_VERSION values (12060 is 12.6); 0: not known.
struct Toolkits {
  std::uint32_t oldest = 0;
  std::uint32_t newest = 0;
};

class Version {
 public:
  constexpr Version() = default;
  constexpr explicit Version(std::uint32_t api) : api_(api) {}
  constexpr std::uint32_t api() const { return api_; }

  constexpr Toolkits toolkits() const {
    if (api_ >= 100'000) return {cuda_of(api_), cuda_of(api_)};
    for (const Row& row : kRows) {
      if (row.api == api_) return row.toolkits;
    }
    return {};
  }

  // A request for a buffer may be answered with none; before 12.9 that crashes.
  constexpr bool may_refuse_buffers() const { return api_ >= 27; }
  // With a timestamp callback of ours kernels come with zero stamps (12.6 update 2 to 13.0).
  constexpr bool timestamp_callback_zeroes() const { return api_ >= 24 && api_ < 130'100; }
  // 13.0.0: a kind that is disabled while the program runs may never return; repaired in update 1.
  constexpr bool disable_may_hang() const { return api_ == 130'000; }
  // 13.0.0: loses synchronization records, crashes when it is itself the NVTX injection.
  constexpr bool loses_sync_records() const { return api_ == 130'000; }
  constexpr bool nvtx_injection_crashes() const { return api_ == 130'000; }
  // Device stamps are converted coarsely (before 11.3).
  constexpr bool coarse_clock() const { return api_ <= 14; }
  // The bytes where kernel records have the graph's id later are padding in 11.0.
  constexpr bool has_kernel_graph_id() const { return api_ >= 14; }
  // 12.0 under a driver of 13.0 crashes while a graph is made executable, whatever the callback does; 12.2 and 12.8 do
  // not (seen on an H200).
  constexpr bool graph_callbacks_crash(std::uint32_t driver_cuda) const {
    const std::uint32_t newest = toolkits().newest;
    return newest != 0 && newest < 12020 && newest / 1'000 < driver_cuda / 1'000;
  }
  // Several clients by subscribers of the second kind; the driver must be r610 or newer as well.
  constexpr bool may_share() const { return api_ >= 130'300; }

 private:
  struct Row {
    std::uint32_t api;
    Toolkits toolkits;
  };
  static constexpr std::uint32_t cuda_of(std::uint32_t api) { return api / 10'000 * 1'000 + api / 100 % 100 * 10; }
  static constexpr Row kRows[] = {
      {12, {10010, 10020}}, {13, {11000, 11000}}, {14, {11010, 11040}}, {15, {11020, 11040}},
      {16, {11050, 11060}}, {17, {11060, 11070}}, {18, {11080, 12010}}, {19, {12000, 12010}},
      {20, {12020, 12020}}, {21, {12030, 12030}}, {22, {12040, 12040}}, {23, {12050, 12050}},
      {24, {12060, 12060}}, {26, {12080, 12080}}, {27, {12090, 12090}}, {28, {12090, 12090}}};

  std::uint32_t api_ = 0;
};

}  // namespace dft::gpu::cupti
