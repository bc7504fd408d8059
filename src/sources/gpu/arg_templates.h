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
#include "sources/gpu/name_table.h"

namespace dft::gpu {

// Args that no template holds, as each record has its own.
inline constexpr std::uint64_t kOwnKeys = std::uint64_t{1} << static_cast<unsigned>(Key::kCorrelation) |
                                          std::uint64_t{1} << static_cast<unsigned>(Key::kGridId) |
                                          std::uint64_t{1} << static_cast<unsigned>(Key::kDurNs);

struct ArgTemplate {
  static constexpr unsigned kWords = 20;
  KernelName name;     // its symbol: of a kernel
  std::uint32_t lane;  // 0: not known
  model::SchemaId schema;
  std::uint32_t words[kWords];  // the activity's, by for_each_word()
};

// Addresses and the like are a record's own, texts are no constants.
inline bool may_have_template(const Activity& activity, ActivityKind kind) {
  if (kind == ActivityKind::kMemory || kind == ActivityKind::kUnifiedMemory) return false;
  if (kind == ActivityKind::kRuntimeApi || kind == ActivityKind::kDriverApi) {
    if (activity.api.error != nullptr) return false;
  }
  return activity.correlation != kNoId;
}

// All that decides what the constants are, beside site and symbol. `use(index, word)`; without `with_launch` the first
// words are left out for a kernel, Activity::launch_words().
template <bool with_launch = true, typename Use>
[[gnu::always_inline]] inline void for_each_word(const Activity& activity, ActivityKind kind, Use&& use) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  if (kind == ActivityKind::kRuntimeApi || kind == ActivityKind::kDriverApi) {
    use(0, activity.api.tid), use(1, activity.api.pid), use(2, activity.api.return_value);
    use(3, std::uint32_t{activity.operation});
    return;
  }
  constexpr unsigned kLaunch = Activity::kLaunchWords;
  use(kLaunch, activity.graph);
  use(kLaunch + 1, low(activity.graph_node)), use(kLaunch + 2, high(activity.graph_node));
  if (kind == ActivityKind::kKernel) {
    const KernelDetail& kernel = activity.kernel;
    for (unsigned i = 0; with_launch && i < kLaunch; ++i) {
      std::uint32_t word;
      std::memcpy(&word, activity.launch_words() + i * sizeof word, sizeof word);
      use(i, word);
    }
    use(15, kernel.registers_per_thread);
    for (unsigned i = 0; i < 3; ++i) use(16 + i, kernel.cluster[i]);
    return;
  }
  use(0, activity.device), use(1, activity.context), use(2, activity.stream);
  if (kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemcpyP2p || kind == ActivityKind::kMemset) {
    const CopyDetail& copy = activity.copy;
    use(3, low(copy.bytes)), use(4, high(copy.bytes)), use(5, copy.copy_kind), use(6, copy.src_kind);
    use(7, copy.dst_kind), use(8, copy.src_device), use(9, copy.src_context), use(10, copy.dst_device);
    use(11, copy.dst_context), use(15, copy.value), use(16, std::uint32_t{copy.is_async});
  } else if (kind == ActivityKind::kSync) {
    use(3, activity.sync.event), use(4, activity.sync.return_value);
  } else if (kind == ActivityKind::kOverhead) {
    use(3, activity.overhead.overhead_kind), use(4, activity.overhead.object_kind);
  }
}

class ArgTemplates {
 public:
  // Lanes have other numbers from now on; and unless `same_keys`, records other keys.
  void configure(bool same_keys);

  // Null: none yet.
  ArgTemplate* find(const Activity& activity, ActivityKind kind, KernelName name) {
    if (const unsigned last = last_[name.site % kSites]) {  // work of one site mostly comes in runs of one template
      ArgTemplate& known = templates_[last - 1];
      if (__builtin_expect(is_for(known, activity, kind, name), 1)) return &known;
    }
    return look_up(activity, kind, name);
  }

  // Counts an activity without a template; true when it is time to make one.
  bool is_worth_one(const Activity& activity, ActivityKind kind, model::SiteId site);
  // `values`: of the record, for `keys`.
  void make(const Activity& activity, ActivityKind kind, KernelName name, std::uint64_t keys,
            const std::uint64_t* values);

 private:
  static constexpr unsigned kSites = 512;
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

  [[gnu::always_inline]] static bool is_for(const ArgTemplate& known, const Activity& activity, ActivityKind kind,
                                            KernelName name) {
    std::uint32_t differs = (known.name.site ^ name.site) | (known.name.symbol ^ name.symbol);
    for_each_word<false>(activity, kind, [&](unsigned i, std::uint32_t word) { differs |= known.words[i] ^ word; });
    return differs == 0 && (kind != ActivityKind::kKernel || is_same_launch(known, activity));
  }
  static bool is_same_launch(const ArgTemplate& known, const Activity& activity) {
    const char* const words = activity.launch_words();
#if defined(__SSE2__)
    __m128i same = _mm_set1_epi32(-1);
    for (unsigned i = 0; i < Activity::kLaunchWords; i += 4) {
      const __m128i is = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i * sizeof(std::uint32_t)));
      const __m128i was = _mm_loadu_si128(reinterpret_cast<const __m128i*>(known.words + i));
      same = _mm_and_si128(same, _mm_cmpeq_epi32(is, was));
    }
    return _mm_movemask_epi8(same) == 0xffff;
#else
    return std::memcmp(words, known.words, Activity::kLaunchWords * sizeof(std::uint32_t)) == 0;
#endif
  }
  ArgTemplate* look_up(const Activity& activity, ActivityKind kind, KernelName name);

  ArgTemplate* templates_ = nullptr;  // in the order in which they were made, so that those in use lie together
  std::size_t count_ = 0;
  bool full_ = false;
  std::uint16_t last_[kSites] = {};     // by site: number of the template + 1
  std::uint16_t places_[kPlaces] = {};  // open addressing: number of the template + 1
  SeenSet seen_[kSeenSets] = {};
};

}  // namespace dft::gpu
