// SPDX-License-Identifier: MIT
// Purpose: what the session keeps about one vendor's GPUs: whether recording is wanted, and how it ends in bounded
// time.
//          cuda.h and hip.h are the two vendors, gpu.h is what the others see.
// Threads: `want` any; the rest says for itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/futex_lock.h"
#include "config/config.h"
#include "encode/json_writer.h"
#include "sources/gpu/gpu_source.h"
#include "sources/gpu/settings.h"

namespace dft::session {

enum class Want : std::uint32_t {
  kNothing,   // not recording, switched off, or ended
  kExpected,  // as soon as recording begins; the vendor's coming begins it
  kWaiting,   // for the vendor's libraries
  kStarted,
  kRefused,  // said why
};

// The names of a list of categories as the vendors write them, in whatever case and with whatever blanks they came.
std::vector<std::string> category_names(const std::vector<std::string>& list);
// Says which names of `variable` are none; `accepted`: a text.
void tell_unknown_categories(const char* variable, const std::string& unknown, bool none_is_known,
                             std::string_view accepted);

class VendorPart {
 public:
  // REQUIRES: kCuda or kHip. Constant, so that it is there before any constructor has run.
  constexpr explicit VendorPart(model::Layer layer) : layer_(layer) {}

  std::atomic<Want> want{Want::kNothing};
  // Held while the vendor's library starts or ends. Never waited for where the holder may wait for us.
  base::FutexLock lock;
  gpu::Settings settings;  // written while nothing is wanted, or with the lock held

  gpu::GpuSource& source() const { return layer_ == model::Layer::kHip ? gpu::hip_source : gpu::cuda_source; }
  Want wanted() const { return want.load(std::memory_order_acquire); }
  // What all vendors' settings have in common.
  void fill_settings(const config::Options& config, int pid);
  bool is_this_process() const;  // not a child that nobody has settled yet
  // Ends recording, and calls `missed` when it never began. `says`: whose records they are, on stderr.
  void stop_in_time(void (*missed)(), const char* whose);
  bool flush(std::uint64_t timeout_ns) const { return !is_this_process() || source().flush(timeout_ns); }
  bool lock_in_time();  // `lock`, waiting as long as the exit may
  void in_child();
  // A `loss` record. `since_ns`: monotonic begin of the time that is missing until now; 0: not known.
  void tell_unrecorded(const char* why, std::uint64_t since_ns = 0) const;

  bool is_on() const { return wanted() != Want::kNothing || source().summary().started; }
  // Members of `cfg`: what is the same for all vendors; the categories follow.
  void append_choice(encode::JsonWriter& json) const;
  // Members of `end`'s object of the vendor, behind what is its own.
  void append_counts(const gpu::Backend& backend, encode::JsonWriter& json) const;

 private:
  model::Layer layer_;
};

}  // namespace dft::session
