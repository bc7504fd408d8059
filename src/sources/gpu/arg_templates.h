// SPDX-License-Identifier: MIT
// Purpose: work of the same site mostly has the same args but for three numbers. Which schema with constants (all the
//          others) a record has is looked up here, so that it carries the three and its line needs no more rendering.
// Threads: one owner, the decoding thread. No allocation but for a template that is new.
// Invariant: a template's constants are the args that the general way would write; bounded, and made only of what came
//            repeatedly, so that args that always change do not use them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/raw_io.h"
#include "model/args.h"
#include "model/record.h"
#include "sources/gpu/activity.h"
#include "sources/gpu/activity_args.h"
#include "sources/gpu/launch.h"
#include "sources/gpu/name_table.h"

namespace dft::gpu {

// Args that no template holds, as each record has its own.
inline constexpr std::uint64_t kOwnKeys = std::uint64_t{1} << static_cast<unsigned>(Key::kCorrelation) |
                                          std::uint64_t{1} << static_cast<unsigned>(Key::kGridId) |
                                          std::uint64_t{1} << static_cast<unsigned>(Key::kDurNs);

struct ArgTemplate {
  static constexpr unsigned kWords = 20;
  model::SiteId site;
  std::uint32_t lane;      // 0: not known
  model::StringId symbol;  // of a kernel
  model::SchemaId schema;
  std::uint32_t words[kWords];  // the activity's, by for_each_word()
};

// Addresses and the like are a record's own, texts are no constants.
inline bool may_have_template(const Activity& activity) {
  if (activity.kind == ActivityKind::kMemory || activity.kind == ActivityKind::kUnifiedMemory) return false;
  if (is_api(activity.kind) && activity.api.error != nullptr) return false;
  return activity.correlation != kNoId;
}

// All that decides what the constants are, beside site and symbol: `use(index, word)`.
template <typename Use>
[[gnu::always_inline]] inline void for_each_word(const ApiCall& call, Use&& use) {
  use(0, call.tid), use(1, call.pid), use(2, call.return_value), use(3, std::uint32_t{call.operation});
}

inline std::uint32_t low_word(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
inline std::uint32_t high_word(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// Without the words of the launch, which are the first in a template.
template <typename Use>
[[gnu::always_inline]] inline void for_each_other_word(const KernelLaunch& launch, Use&& use) {
  constexpr unsigned kLaunch = Activity::kLaunchWords;
  use(kLaunch, launch.graph);
  use(kLaunch + 1, low_word(launch.graph_node)), use(kLaunch + 2, high_word(launch.graph_node));
  use(kLaunch + 3, launch.registers_per_thread);
  for (unsigned i = 0; i < 3; ++i) use(kLaunch + 4 + i, launch.cluster[i]);
}
template <typename Use>
[[gnu::always_inline]] inline void for_each_word(const KernelLaunch& launch, Use&& use) {
  for (unsigned i = 0; i < Activity::kLaunchWords; ++i) {
    std::uint32_t word;
    std::memcpy(&word, launch.words + i * sizeof word, sizeof word);
    use(i, word);
  }
  for_each_other_word(launch, use);
}

template <typename Use>
inline void for_each_word(const Activity& activity, Use&& use) {
  if (is_api(activity.kind)) return for_each_word(call_of(activity), use);
  if (activity.kind == ActivityKind::kKernel) return for_each_word(launch_of(activity), use);
  use(0, activity.device), use(1, activity.context), use(2, activity.stream), use(12, activity.graph);
  use(13, low_word(activity.graph_node)), use(14, high_word(activity.graph_node));
  if (activity.kind == ActivityKind::kMemcpy || activity.kind == ActivityKind::kMemcpyP2p ||
      activity.kind == ActivityKind::kMemset) {
    const CopyDetail& copy = activity.copy;
    use(3, low_word(copy.bytes)), use(4, high_word(copy.bytes)), use(5, copy.copy_kind), use(6, copy.src_kind);
    use(7, copy.dst_kind), use(8, copy.src_device), use(9, copy.src_context), use(10, copy.dst_device);
    use(11, copy.dst_context), use(15, copy.value), use(16, std::uint32_t{copy.is_async});
  } else if (activity.kind == ActivityKind::kSync) {
    use(3, activity.sync.event), use(4, activity.sync.return_value);
  } else if (activity.kind == ActivityKind::kOverhead) {
    use(3, activity.overhead.overhead_kind), use(4, activity.overhead.object_kind);
  }
}

// Whether a template has the same words.
template <typename Work>
inline bool has_same_words(const ArgTemplate& known, const Work& work) {
  std::uint32_t differs = 0;
  for_each_word(work, [&](unsigned i, std::uint32_t word) { differs |= known.words[i] ^ word; });
  return differs == 0;
}
#if defined(__SSE2__)
[[gnu::always_inline]] inline bool has_same_words(const ArgTemplate& known, const KernelLaunch& launch) {
  std::uint32_t differs = 0;
  for_each_other_word(launch, [&](unsigned i, std::uint32_t word) { differs |= known.words[i] ^ word; });
  __m128i same = _mm_set1_epi32(-1);
  for (unsigned i = 0; i < Activity::kLaunchWords; i += 4) {
    const __m128i is = _mm_loadu_si128(reinterpret_cast<const __m128i*>(launch.words + i * sizeof(std::uint32_t)));
    const __m128i was = _mm_loadu_si128(reinterpret_cast<const __m128i*>(known.words + i));
    same = _mm_and_si128(same, _mm_cmpeq_epi32(is, was));
  }
  return differs == 0 && _mm_movemask_epi8(same) == 0xffff;
}
#endif

class ArgTemplates {
 public:
  // Lanes have other numbers from now on; and unless `same_keys`, records other keys.
  void configure(bool same_keys);

  // The template used last in the place of the work, if it is its own; else null.
  template <typename Work>
  [[gnu::always_inline]] ArgTemplate* find_recent(const Work& work, KernelName name) const {
    const unsigned last = last_[place_of(work, name.site)];
    if (last == 0 || !is_for(templates_[last - 1], work, name)) return nullptr;
    return &templates_[last - 1];
  }
  // Null: none yet.
  ArgTemplate* find(const Activity& activity, KernelName name);

  // Counts an activity without a template; true when it is time to make one.
  bool is_worth_one(const Activity& activity, model::SiteId site);
  // `values`: of the record, for `keys`.
  void make(const Activity& activity, KernelName name, std::uint64_t keys, const std::uint64_t* values);

 private:
  static constexpr unsigned kRecentBits = 10;
  static constexpr std::size_t kPlaces = 2 * model::kMaxConstantSchemas;
  static constexpr std::uint32_t kWorthOne = 3;
  // Marks of what came lately without a template. The oldest of a set goes.
  struct SeenSet {
    static constexpr unsigned kWays = 7;
    std::uint32_t marks[kWays];
    std::uint32_t oldest;
    std::uint32_t times[kWays + 1];
  };
  static constexpr unsigned kSeenSets = 256;

  // What one site mostly alternates between has places of its own: a kernel's grids, a call's threads. Sites of one
  // grid lie side by side.
  static std::size_t place_of(std::uint64_t word, model::SiteId site) {
    return (site + (word * 0x9e3779b97f4a7c15ull >> (64 - kRecentBits))) % (1u << kRecentBits);
  }
  static std::size_t place_of(const ApiCall& call, model::SiteId site) { return place_of(call.tid, site); }
  static std::size_t place_of(const KernelLaunch& launch, model::SiteId site) {
    std::uint64_t grid;  // x and y
    std::memcpy(&grid, launch.words + 3 * sizeof(std::uint32_t), sizeof grid);
    return place_of(grid, site);
  }
  static std::size_t place_of(const Activity& activity, model::SiteId site) {
    if (is_api(activity.kind)) return place_of(call_of(activity), site);
    if (activity.kind == ActivityKind::kKernel) return place_of(launch_of(activity), site);
    return place_of(0, site);
  }
  template <typename Work>
  [[gnu::always_inline]] static bool is_for(const ArgTemplate& known, const Work& work, KernelName name) {
    return known.site == name.site && known.symbol == name.symbol && has_same_words(known, work);
  }
  ArgTemplate* templates_ = nullptr;  // in the order in which they were made, so that those in use lie together
  std::size_t count_ = 0;
  bool full_ = false;
  std::uint16_t last_[1u << kRecentBits] = {};  // by place_of(): number of the template + 1
  std::uint16_t places_[kPlaces] = {};          // open addressing: number of the template + 1
  SeenSet seen_[kSeenSets] = {};
};

}  // namespace dft::gpu
