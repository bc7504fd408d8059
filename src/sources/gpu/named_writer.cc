// SPDX-License-Identifier: MIT
#include "sources/gpu/named_writer.h"

#include <charconv>
#include <cstring>
#include <iterator>

#include "base/raw_io.h"
#include "record/emit.h"
#include "record/in_place.h"
#include "sources/gpu/activity_writer.h"

namespace dft::gpu {

namespace {
constexpr std::uint64_t kFutureSlackNs = 1'000'000;
constexpr std::size_t kMostText = 16;  // name of a suspect time

constexpr record::ArgField kCommon[] = {
    {model::ArgType::kHash, "symbol_hash"},
    {model::ArgType::kUint64, "dur_ns"},
    {model::ArgType::kString, "clock_suspect"},
};
constexpr std::size_t kMostBytes = 8 * (kMostNamedValues + std::size(kCommon)) + kMostText;

std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }
}  // namespace

model::SchemaId NamedSchemas::look_up(std::uint64_t keys) {
  bool made = false;
  model::SchemaId* known = known_.find_or_add({keys}, &made);
  if (known == nullptr) return model::kSelfDescribing;
  if (!made) return *known;
  record::ArgField fields[model::kMaxFields];
  std::size_t count = 0;
  for (unsigned i = 0; i < fields_.count && count < model::kMaxFields; ++i) {
    const NamedField& field = fields_.fields[i];
    if ((keys >> i & 1u) == 0) continue;
    fields[count++] = {field.is_signed ? model::ArgType::kInt64 : model::ArgType::kUint64, field.key};
  }
  for (unsigned i = 0; i < std::size(kCommon) && count < model::kMaxFields; ++i) {
    if ((keys >> (kSymbolHashBit + i) & 1u) != 0) fields[count++] = kCommon[i];
  }
  return *known = record::schema_id(fields, count);
}

void NamedSites::configure(Backend& backend) {
  constexpr std::size_t kSites = std::size_t{kNamedKinds} * kNamedOperations;
  backend_ = &backend;
  if (sites_ == nullptr && backend.named_fields().count != 0) {
    sites_ = static_cast<model::SiteId*>(base::raw::map(kSites * sizeof(model::SiteId)));
  }
}

model::SiteId NamedSites::of(unsigned kind, unsigned operation) {
  const bool has_place = sites_ != nullptr && kind < kNamedKinds && operation < kNamedOperations;
  model::SiteId* known = has_place ? &sites_[kind * kNamedOperations + operation] : nullptr;
  if (known != nullptr && *known != 0) return *known;
  std::string_view name = backend_->named_operation(kind, operation);
  char unknown[24] = "operation_";
  if (name.empty()) {
    char* const end = std::to_chars(unknown + std::strlen(unknown), std::end(unknown), operation).ptr;
    name = {unknown, static_cast<std::size_t>(end - unknown)};
  }
  const model::SiteId site = record::site_id(name, backend_->named_category(kind), backend_->layer());
  if (known != nullptr) *known = site;
  return site;
}

ActivityWriter::Times ActivityWriter::named_times(const NamedActivity& activity) const {
  Times times{activity.begin, activity.is_instant ? activity.begin : activity.end, Suspect::kNone};
  const Launch* launch = nullptr;
  if (launches_ != nullptr && activity.is_work && activity.correlation != 0) {
    launch = &launches_[activity.correlation % kLaunches];
    if (launch->correlation != activity.correlation || launch->begin == 0) launch = nullptr;
  }
  if (times.begin == 0) {
    times.begin = times.end = times.end != 0 ? times.end : launch != nullptr ? launch->end : arrival_ns_;
    times.suspect = Suspect::kZero;
  } else if (times.end == 0) {
    times.end = times.begin;
    times.suspect = Suspect::kZeroEnd;
  } else if (times.end < times.begin) {
    times.end = times.begin;
    times.suspect = Suspect::kReversed;
  } else if (times.end > arrival_ns_ + kFutureSlackNs) {
    times.suspect = Suspect::kFuture;
  } else if (launch != nullptr && times.begin < launch->begin) {
    times.suspect = Suspect::kBeforeApi;
  }
  return times;
}

void ActivityWriter::named(const NamedActivity& activity) {
  if (activity.is_call && activity.correlation != 0 && launches_ != nullptr) {
    launches_[activity.correlation % kLaunches] = {activity.begin, activity.correlation, activity.end};
  }
  KernelName name{};
  if (activity.is_kernel) {
    name = names_.of(activity.symbol);
  } else {
    name.site = named_sites_.of(activity.kind, activity.operation);
  }
  const Times times = named_times(activity);
  ++counts_.suspects[static_cast<unsigned>(times.suspect)];
  ++counts_.named[activity.kind];
  if (activity.is_work) ++counts_.named_work;
  const bool on_thread = activity.tid != 0;
  const std::uint32_t lane =
      on_thread ? activity.tid : lanes_.of(activity.lane, activity.device, activity.context, activity.stream);
  record::EventInPlace event(kMostBytes);
  if (!event) return;
  char* const first = event.args();
  std::memcpy(first, activity.values, activity.value_count * sizeof activity.values[0]);
  char* at = first + activity.value_count * sizeof activity.values[0];
  std::uint64_t keys = activity.fields;
  const auto add = [&](unsigned key, std::uint64_t value) {
    keys |= bit(key);
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  if (name.symbol != 0) add(kSymbolHashBit, name.symbol);
  if (with_dur_ns_ && !activity.is_instant) add(kDurNsBit, times.end - times.begin);
  if (times.suspect != Suspect::kNone) {
    const std::string_view text = std::string_view(suspect_name(times.suspect)).substr(0, kMostText);
    add(kClockSuspectBit, text.size());
    model::copy_value(at, text.data(), text.size());
    at += model::padded8(text.size());
  }
  const model::SchemaId schema = named_schemas_.of(keys, activity.kind);
  const bool usable = schema != model::kSelfDescribing;  // else no memory: the event stays, without args
  event.end(name.site, clock_->to_ticks(times.begin), clock_->to_ticks(times.end), usable ? schema : model::kNoArgs,
            usable ? at : first, lane);
}

}  // namespace dft::gpu
