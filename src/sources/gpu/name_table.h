// SPDX-License-Identifier: MIT
// Purpose: kernel names: from the vendor's pointer to the event's name (demangled, whole) and the symbol's hash.
// Threads: one owner, the decoding thread, off every application thread.
// Invariant: a pointer is trusted only together with its text, compared once for each buffer: the vendor's strings die
//            with their module, and another name may come at the same address. All pointers of a buffer are read at one
//            time, so within it an address has one text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/record.h"
#include "model/trace_format.h"
#include "sources/gpu/flat_map.h"
#include "sources/gpu/settings.h"

namespace dft::gpu {

struct KernelName {
  model::SiteId site;
  model::StringId symbol;  // of the mangled name; 0: none
};

class NameTable {
 public:
  ~NameTable();
  // `hidden_suffix`: at the end of symbols, but no part of an event's name.
  void configure(KernelNames form, std::string_view category, model::Layer layer, std::string_view hidden_suffix = {});
  void next_buffer() { ++buffer_; }    // before the first of them no pointer is trusted
  KernelName of(const char* symbol) {  // null or empty: "kernel"
    const KernelName* known = compared(symbol);
    return known != nullptr ? *known : find(symbol);
  }
  // Of a pointer that was compared in this buffer lately; else null.
  const KernelName* compared(const char* symbol) const {
    const Recent& recent = recent_[place_of(symbol)];
    return recent.symbol == symbol && recent.buffer == buffer_ ? &recent.name : nullptr;
  }
  std::size_t count() const { return texts_.size(); }

 private:
  struct Entry {
    const char* text;  // our copy, NUL-terminated
    KernelName name;
    std::uint64_t buffer;  // in which the text was compared last
  };
  struct Arena {
    Arena* next;
    std::size_t used;
  };
  // Pointers compared in the buffer at hand.
  struct Recent {
    const char* symbol = nullptr;
    std::uint64_t buffer = ~std::uint64_t{0};  // none
    KernelName name{};
  };
  static constexpr unsigned kRecentBits = 8;
  static std::size_t place_of(const char* symbol) {
    return reinterpret_cast<std::uintptr_t>(symbol) * 0x9e3779b97f4a7c15ull >> (64 - kRecentBits);
  }
  KernelName find(const char* symbol);
  static constexpr std::size_t kArenaSize = 1 << 16;
  bool is_still(Entry& entry, const char* symbol) const;
  KernelName look_up(const char* symbol);
  const char* copy(std::string_view text);
  model::SiteId site_of(const char* symbol) const;
  model::SiteId site_without_suffix(std::string_view symbol) const;

  KernelNames form_ = KernelNames::kFull;
  std::string_view category_;
  std::string_view hidden_suffix_;
  model::Layer layer_ = model::Layer::kCuda;
  FlatMap<WordKey, Entry> pointers_;
  FlatMap<WordKey, Entry> texts_;  // by a hash of the text
  std::uint64_t buffer_ = 0;
  Recent recent_[1u << kRecentBits];
  Arena* arena_ = nullptr;
};

// "ns::f<int>(float*)" -> "f"; what is not a demangled function stays.
std::string_view short_kernel_name(std::string_view demangled);

}  // namespace dft::gpu
