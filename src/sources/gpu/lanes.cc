// SPDX-License-Identifier: MIT
#include "sources/gpu/lanes.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <string_view>

#include "record/emit.h"

namespace dft::gpu {

namespace {

// Of all vendors: the number given last << 32 | how many are in use. With none in use the count begins again.
std::atomic<std::uint64_t> numbers{0};

std::uint32_t take_number() {
  const std::uint64_t before = numbers.fetch_add((std::uint64_t{1} << 32) + 1, std::memory_order_relaxed);
  return Lanes::kFirst + static_cast<std::uint32_t>(before >> 32);
}

void give_back(std::size_t count) {
  std::uint64_t before = numbers.load(std::memory_order_relaxed);
  std::uint64_t after;
  do {
    after = before - count;
    if (static_cast<std::uint32_t>(after) == 0) after = 0;
  } while (!numbers.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

class LaneName {
 public:
  LaneName& text(std::string_view s) {
    if (s.size() > sizeof buffer_ - size_) s = s.substr(0, sizeof buffer_ - size_);
    std::memcpy(buffer_ + size_, s.data(), s.size());
    size_ += s.size();
    return *this;
  }
  LaneName& number(std::uint32_t n) {
    char digits[12];
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    return text({digits, static_cast<std::size_t>(end - digits)});
  }
  std::string_view view() const { return {buffer_, size_}; }

 private:
  char buffer_[96];
  std::size_t size_ = 0;
};

}  // namespace

std::uint32_t Lanes::of(LaneKind kind, std::uint32_t device, std::uint32_t context, std::uint32_t stream) {
  const LaneKey key{static_cast<std::uint32_t>(kind), device, context, stream};
  if (last_ != 0 && key == last_key_) return last_;
  bool made = false;
  std::uint32_t* lane = lanes_.find_or_add(key, &made);
  if (lane == nullptr) return kFirst;
  if (made) {
    if (context != kNoId && device != kNoId) add_context(context, device);  // may rename the others
    *lane = take_number();
    name(key, *lane);
  }
  last_key_ = key;
  last_ = *lane;
  return last_;
}

void Lanes::add_context(std::uint32_t context, std::uint32_t device) {
  bool made = false;
  std::uint32_t* known = contexts_.find_or_add({context}, &made);
  if (known == nullptr || !made) return;
  *known = device;
  DeviceState* state = devices_.find_or_add({device}, &made);
  if (state != nullptr && ++state->contexts == 2) name_again(device);
}

std::uint32_t Lanes::device_of(std::uint32_t context) {
  const std::uint32_t* device = contexts_.find({context});
  return device == nullptr ? kNoId : *device;
}

void Lanes::forget() {
  give_back(lanes_.size());
  lanes_.clear();
  last_ = 0;
}

void Lanes::name(const LaneKey& key, std::uint32_t lane) {
  LaneName text;
  if (key.kind == static_cast<std::uint32_t>(LaneKind::kOverhead)) {
    text.text(overhead_name_);
  } else {
    text.text("GPU");
    if (key.device != kNoId) text.text(" ").number(key.device);
    const DeviceState* state = devices_.find({key.device});
    const bool several = state != nullptr && state->contexts > 1;
    if (key.context != kNoId && (several || key.device == kNoId)) text.text(" context ").number(key.context);
    switch (static_cast<LaneKind>(key.kind)) {
      case LaneKind::kStream:
        text.text(" stream ");
        key.stream == kNoId ? text.text("?") : text.number(key.stream);
        break;
      case LaneKind::kQueue: text.text(" queue ").number(key.stream); break;
      case LaneKind::kSync: text.text(" sync"); break;
      case LaneKind::kMemory: text.text(" memory"); break;
      case LaneKind::kUnifiedMemory: text.text(" unified memory"); break;
      case LaneKind::kCopies: text.text(" copies"); break;
      case LaneKind::kScratch: text.text(" scratch memory"); break;
      case LaneKind::kPageMigration: text.text(" page migration"); break;
      case LaneKind::kOverhead: break;
    }
  }
  record::ArgList<256> args;
  args.add_string("name", text.view());
  args.add_string("value", model::kThreadName);
  record::emit_metadata(record::site_id(model::kThreadName, model::kCategoryDftracer, layer_), args, lane);
}

void Lanes::name_again(std::uint32_t device) {
  lanes_.for_each([&](const LaneKey& key, std::uint32_t lane) {
    if (key.device == device && key.context != kNoId && lane != 0) name(key, lane);
  });
}

}  // namespace dft::gpu
