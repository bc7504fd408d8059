// SPDX-License-Identifier: MIT
#include "sources/gpu/arg_templates.h"

#include <cstring>

namespace dft::gpu {

namespace {
std::uint64_t hash_of(const Activity& activity, model::SiteId site) {
  std::uint64_t hash = site;
  for_each_word(activity, [&](unsigned, std::uint32_t word) { hash = mix(hash ^ word); });
  return hash;
}
}  // namespace

void ArgTemplates::configure(bool same_keys) {
  constexpr std::size_t kBytes = model::kMaxConstantSchemas * sizeof(ArgTemplate);
  if (templates_ == nullptr) templates_ = static_cast<ArgTemplate*>(base::raw::map(kBytes));
  if (!same_keys) {
    std::memset(last_, 0, sizeof last_);
    std::memset(places_, 0, sizeof places_);
    count_ = 0;
  }
  for (std::size_t i = 0; i < count_; ++i) templates_[i].lane = 0;
}

ArgTemplate* ArgTemplates::find(const Activity& activity, KernelName name) {
  if (count_ == 0) return nullptr;
  if (ArgTemplate* recent = find_recent(activity, name)) return recent;
  for (std::size_t at = hash_of(activity, name.site) % kPlaces;; at = (at + 1) % kPlaces) {
    if (places_[at] == 0) return nullptr;
    ArgTemplate& known = templates_[places_[at] - 1];
    if (!is_for(known, activity, name)) continue;
    last_[place_of(activity, name.site)] = places_[at];
    return &known;
  }
}

bool ArgTemplates::is_worth_one(const Activity& activity, model::SiteId site) {
  if (templates_ == nullptr || full_) return false;
  const std::uint64_t hash = hash_of(activity, site);
  SeenSet& set = seen_[hash % kSeenSets];
  const auto mark = static_cast<std::uint32_t>(hash >> 32);
  for (unsigned i = 0; i < SeenSet::kWays; ++i) {
    if (set.marks[i] == mark) return ++set.times[i] >= kWorthOne;
  }
  set.marks[set.oldest] = mark;
  set.times[set.oldest] = 1;
  set.oldest = (set.oldest + 1) % SeenSet::kWays;
  return false;
}

void ArgTemplates::make(const Activity& activity, KernelName name, std::uint64_t keys, const std::uint64_t* values) {
  const model::SchemaId schema = constants_schema(keys, kOwnKeys, values);
  full_ = schema == model::kSelfDescribing || count_ == model::kMaxConstantSchemas;  // or no memory: not tried again
  if (full_) return;
  std::size_t at = hash_of(activity, name.site) % kPlaces;
  while (places_[at] != 0) at = (at + 1) % kPlaces;
  ArgTemplate& made = templates_[count_++];
  places_[at] = static_cast<std::uint16_t>(count_);
  made.site = name.site;
  made.lane = 0;
  made.symbol = name.symbol;
  made.schema = schema;
  for_each_word(activity, [&](unsigned i, std::uint32_t word) { made.words[i] = word; });
}

}  // namespace dft::gpu
