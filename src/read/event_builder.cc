// SPDX-License-Identifier: MIT
#include "read/event_builder.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace dft::read {
namespace {

constexpr std::string_view kFieldNames[] = {"name", "cat", "type", "ph", "id", "pid", "tid", "ts", "dur", "args"};

bool parse_unsigned(const Value& value, std::uint64_t& out) {
  if (value.integer && !value.negative) return out = value.magnitude, true;
  const std::string_view text = value.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_signed(const Value& value, std::int64_t& out) {
  if (value.integer && value.magnitude <= static_cast<std::uint64_t>(INT64_MAX)) {
    out = static_cast<std::int64_t>(value.magnitude);
    if (value.negative) out = -out;
    return true;
  }
  const std::string_view text = value.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// A number with a fraction or an exponent, floored; negative numbers and numbers beyond 2^63 are refused.
bool parse_floored(std::string_view text, std::uint64_t& out) {
  const std::string copy(text);
  const double value = std::strtod(copy.c_str(), nullptr);
  if (!(value >= 0) || value >= 9.2e18) return false;
  out = static_cast<std::uint64_t>(std::floor(value));
  return true;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

bool looks_like_hash(const Value& value) {
  if (value.type == ValueType::kNumber) return true;
  if (value.text.size() != 16) return false;
  for (const char c : value.text) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

}  // namespace

template <class Cursor>
bool EventBuilder<Cursor>::read() {
  return cursor_.object([this](std::string_view key) { return member(key); });
}

template <class Cursor>
std::string_view EventBuilder<Cursor>::text_of(const Value& value) {
  if (!value.escaped) return value.text;
  char* room = arena_.take(value.text.size());
  return {room, static_cast<std::size_t>(unescape(value.text, room))};
}

template <class Cursor>
bool EventBuilder<Cursor>::member(std::string_view key) {
  Field field = kFields;
  switch (key.size()) {
    case 2: field = key == "ph" ? kPh : key == "id" ? kId : key == "ts" ? kTs : kFields; break;
    case 3:
      field = key == "pid" ? kPid : key == "tid" ? kTid : key == "cat" ? kCat : key == "dur" ? kDur : kFields;
      break;
    case 4: field = key == "name" ? kName : key == "type" ? kType : key == "args" ? kArgs : kFields; break;
    default: break;
  }
  if (field == kArgs && cursor_.peek() == '{') {
    seen_ |= 1u << kArgs;
    args_is_object_ = true;
    const std::uint32_t begin = cursor_.at();
    arg_index_ = 0;
    if (!cursor_.object([this](std::string_view name) { return arg(name); })) return false;
    event_.args = cursor_.span(begin);
    return true;
  }
  Value value;
  if (!cursor_.value(value)) return false;
  if (field == kFields) return true;
  seen_ |= 1u << field;
  if (field == kArgs) {
    bad_ |= 1u << kArgs;
  } else if (field == kName || field == kCat) {
    if (value.type != ValueType::kString) bad_ |= 1u << field;
    (field == kName ? event_.name : event_.cat) = text_of(value);
  } else if (field == kPh) {
    take_phase(value);
  } else if (!take_number(field, value)) {
    bad_ |= 1u << field;
  }
  return true;
}

template <class Cursor>
bool EventBuilder<Cursor>::take_number(Field field, const Value& value) {
  if (value.type == ValueType::kString) {
    quoted_ |= 1u << field;
  } else if (value.type != ValueType::kNumber) {
    return false;
  }
  if (field == kPid || field == kTid) return parse_signed(value, field == kPid ? event_.pid : event_.tid);
  std::uint64_t number = 0;
  const bool whole = parse_unsigned(value, number);
  if (!whole && (field == kId || field == kType || !parse_floored(value.text, number))) return false;
  if (field == kId) {
    event_.id = number;
    event_.has_id = true;
  } else if (field == kType) {
    event_.type = static_cast<std::int32_t>(number & 0x7fffffff);
    event_.has_type = true;
  } else {
    (field == kTs ? event_.ts : event_.dur) = number;
    if (!whole) bad_ |= 1u << field;  // usable, but not exact
  }
  return true;
}

template <class Cursor>
void EventBuilder<Cursor>::take_phase(const Value& value) {
  std::uint64_t number = 0;
  if (value.type == ValueType::kNumber && parse_unsigned(value, number)) {
    integer_ph_ = true;
    event_.phase = number <= 4 ? static_cast<model::Phase>(number) : model::Phase::kUnknown;
  } else if (value.type == ValueType::kString && value.text.size() == 1) {
    letter_ = value.text[0];
  } else {
    bad_ |= 1u << kPh;
  }
}

template <class Cursor>
void EventBuilder<Cursor>::take_arg_text(const Value& value, std::string_view& out) {
  if (value.type == ValueType::kString || value.type == ValueType::kNumber) out = text_of(value);
}

template <class Cursor>
bool EventBuilder<Cursor>::arg(std::string_view key) {
  Value value;
  if (!cursor_.value(value)) return false;
  const bool first = arg_index_++ == 0;
  switch (key.size()) {
    case 4:
      if (key == "name") take_arg_text(value, event_.arg_name);
      break;
    case 5:
      if (key == "hhash") {
        event_.hhash_first = first;
        hash_is_number_ |= value.type == ValueType::kNumber;
        take_arg_text(value, event_.hhash);
      } else if (key == "fhash") {
        hash_is_number_ |= value.type == ValueType::kNumber;
        take_arg_text(value, event_.fhash);
      } else if (key == "value") {
        take_arg_text(value, event_.arg_value);
      }
      break;
    case 8: hostname_ |= key == "hostname" && value.type == ValueType::kString; break;
    case 11: event_.open_at_end |= key == "open_at_end"; break;
    default: break;
  }
  if (value.type == ValueType::kNumber || value.type == ValueType::kString) {
    take_known_arg(key, value);
    if (refs_ != nullptr) take_ref(key, value);
  }
  return true;
}

template <class Cursor>
void EventBuilder<Cursor>::take_known_arg(std::string_view key, const Value& value) {
  int index = kKnownArgs;
  switch (key.size()) {
    case 3: index = key == "ret" ? kArgRet : kKnownArgs; break;
    case 4: index = key == "size" ? kArgSize : kKnownArgs; break;
    case 5: index = key == "bytes" ? kArgBytes : key == "count" ? kArgCount : kKnownArgs; break;
    case 6: index = key == "dur_ns" ? kArgDurNs : kKnownArgs; break;
    case 7: index = key == "dft_cnt" ? kArgDftCount : kKnownArgs; break;
    case 8:
      index = key == "graph_id"   ? kArgGraph
              : key == "src_kind" ? kArgSrcKind
              : key == "dst_kind" ? kArgDstKind
                                  : kKnownArgs;
      break;
    case 9: index = key == "device_id" ? kArgDevice : kKnownArgs; break;
    case 13: index = key == "graph_node_id" ? kArgGraphNode : kKnownArgs; break;
    case 14: index = key == "correlation_id" ? kArgCorrelation : kKnownArgs; break;
    default: break;
  }
  std::int64_t number = 0;
  if (index == kKnownArgs || !parse_signed(value, number)) return;
  event_.number[index] = number;
  event_.have = static_cast<std::uint16_t>(event_.have | 1u << index);
}

template <class Cursor>
void EventBuilder<Cursor>::take_ref(std::string_view key, const Value& value) {
  char kind = '\0';
  if (key == "fhash") {
    kind = 'F';
  } else if (key == "hhash") {
    kind = 'H';
  } else if (key == "cwd") {
    kind = looks_like_hash(value) ? 'F' : '\0';
  } else if (key.size() > 5 && ends_with(key, "_hash")) {
    kind = key == "exec_hash" || key == "cmd_hash" ? 'S' : '?';
  }
  if (kind == '\0' || value.text == "0" || value.text.empty()) return;
  refs_->push_back({kind, value.text, key, 0, 0});
}

template <class Cursor>
void EventBuilder<Cursor>::derive_phase() {
  switch (letter_) {
    case 'X': event_.phase = model::Phase::kComplete; break;
    case 'M': event_.phase = model::Phase::kMetadata; break;
    case 'A': event_.phase = model::Phase::kAggregated; break;
    case 'C': event_.phase = event_.has(kArgDftCount) ? model::Phase::kAggregated : model::Phase::kCounter; break;
    default: break;
  }
}

template <class Cursor>
void EventBuilder<Cursor>::derive_generation() {
  const bool metadata = event_.phase == model::Phase::kMetadata;
  Generation& generation = event_.generation;
  if ((quoted_ & (1u << kId | 1u << kPid | 1u << kTid | 1u << kTs | 1u << kDur)) != 0) {
    generation = Generation::kG1a;
  } else if (integer_ph_) {
    generation = Generation::kG3;
  } else if (hostname_ || (metadata && !seen(kCat))) {
    generation = Generation::kG1b;
  } else if (hash_is_number_) {
    generation = Generation::kG1d;
  } else if (metadata) {
    generation = event_.has_id ? Generation::kG1c : Generation::kG2;
  }
}

template <class Cursor>
bool EventBuilder<Cursor>::complete(bool strict, std::string& reason) {
  if (letter_ != '\0') derive_phase();
  derive_generation();
  if (!event_.has_type) event_.type = layer_from_category(event_.cat, event_.phase);
  // The first versions wrote tid + pid, and the record of the core affinity still does.
  const bool early = event_.generation == Generation::kG1a || event_.generation == Generation::kG1b;
  const bool affinity = event_.phase == model::Phase::kMetadata && event_.name == model::kProcessRecord &&
                        event_.arg_name == "core_affinity";
  if ((early || affinity) && event_.tid > event_.pid) event_.tid -= event_.pid;
  return usable(reason) && (!strict || exact(reason));
}

template <class Cursor>
bool EventBuilder<Cursor>::usable(std::string& reason) {
  const bool timed = event_.phase == model::Phase::kComplete || event_.phase == model::Phase::kCounter ||
                     event_.phase == model::Phase::kAggregated;
  for (const Field field : {kName, kPh, kTs, kDur}) {
    if (field == kTs && !timed) continue;
    if (field == kDur && event_.phase != model::Phase::kComplete) continue;
    const bool unusable = field == kTs || field == kDur ? !seen(field) : !seen(field) || bad(field);
    if (unusable) {
      reason =
          std::string(seen(field) ? "wrong type of key \"" : "missing key \"") + std::string(kFieldNames[field]) + '"';
      return false;
    }
  }
  if (event_.phase == model::Phase::kComplete && event_.ts + event_.dur < event_.ts) {
    reason = "ts + dur is beyond 64 bits";
    return false;
  }
  return true;
}

template <class Cursor>
bool EventBuilder<Cursor>::exact(std::string& reason) const {
  const bool complete = event_.phase == model::Phase::kComplete;
  const bool metadata = event_.phase == model::Phase::kMetadata;
  unsigned needed = 1u << kPid | 1u << kTid;
  if (event_.generation != Generation::kG1b || !metadata) needed |= 1u << kCat;
  if (integer_ph_) needed |= 1u << kType;
  if (complete) needed |= 1u << kId;
  if (metadata) needed |= 1u << kArgs;
  const unsigned quoted = integer_ph_ ? quoted_ : quoted_ & (1u << kType);
  for (int i = 0; i < kFields; ++i) {
    const unsigned bit = 1u << i;
    if ((needed & bit & ~seen_) != 0) return reason = "missing key \"" + std::string(kFieldNames[i]) + '"', false;
    if (((bad_ | quoted) & bit) != 0) return reason = "wrong type of key \"" + std::string(kFieldNames[i]) + '"', false;
  }
  return true;
}

template class EventBuilder<JsonCursor>;
template class EventBuilder<CompactCursor>;

}  // namespace dft::read
