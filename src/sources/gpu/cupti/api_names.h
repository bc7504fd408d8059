// SPDX-License-Identifier: MIT
// Purpose: names of API calls by callback id, as the user wrote them, and which of them are left out.
// Threads: filled by configure; read by the decoding thread.
// Invariant: a call that launches work is never on the quiet list.
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/gpu/activity.h"
#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/settings.h"

namespace dft::gpu::cupti {

// cudaMalloc_v3020 -> cudaMalloc, cudaLaunchKernel_ptsz_v7000 -> cudaLaunchKernel_ptsz. Driver names stay.
std::string_view without_release_suffix(std::string_view name);
// Whether the quiet mode leaves the call out.
bool is_quiet_runtime_call(std::string_view name);
bool is_quiet_driver_call(std::string_view name);

// What the quiet mode leaves out, in words for a `loss` record.
const char* quiet_list();

class ApiNames {
 public:
  void configure(Signature_cuptiGetCallbackName look_up, ApiMode mode);
  std::string_view name(ActivityKind kind, unsigned id) const;  // empty: not known
  bool is_left_out(ActivityKind kind, std::uint32_t id) const {
    return id < kOperations && (left_out_[index(kind)][id / 64] >> (id % 64) & 1u) != 0;
  }
  // Calls `use(id)` for each id that is left out.
  template <typename Use>
  void for_each_left_out(ActivityKind kind, Use&& use) const {
    for (std::uint32_t id = 0; id < count_[index(kind)]; ++id) {
      if (is_left_out(kind, id)) use(id);
    }
  }
  std::uint32_t count(ActivityKind kind) const { return count_[index(kind)]; }  // ids are below it

 private:
  static unsigned index(ActivityKind kind) { return kind == ActivityKind::kRuntimeApi ? 0 : 1; }
  void configure_domain(ActivityKind kind, ApiMode mode);

  Signature_cuptiGetCallbackName look_up_ = nullptr;
  std::uint64_t left_out_[2][kOperations / 64] = {};
  std::uint32_t count_[2] = {};
};

}  // namespace dft::gpu::cupti
