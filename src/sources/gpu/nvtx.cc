// SPDX-License-Identifier: MIT
// NVTX's binary interface as far as it is used here: event attributes, and the two tables of function pointers.
#include "sources/gpu/nvtx.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/futex_lock.h"
#include "base/raw_io.h"
#include "record/emit.h"
#include "sources/gpu/range_stack.h"

namespace dft::gpu::nvtx {

namespace {

using record::Region;

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  union {
    std::uint64_t u64;
    std::int64_t i64;
    double f64;
    std::uint32_t u32;
    std::int32_t i32;
    float f32;
  } payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;
  } message;
};
static_assert(offsetof(Attributes, message) == 40 && sizeof(Attributes) == 48);

enum MessageType { kAscii = 1, kUnicode = 2, kRegistered = 3 };
enum PayloadType { kUint64 = 1, kInt64 = 2, kDouble = 3, kUint32 = 4, kInt32 = 5, kFloat = 6 };
constexpr std::int32_t kArgb = 1;

// A domain or a registered string. Never freed: handles of the application may outlive their end.
struct Text {
  std::uint32_t size;
  char bytes[1];
  std::string_view view() const { return {bytes, size}; }
};

constexpr std::string_view kCategory = "CUDA_MARKER";
constexpr std::string_view kUnnamed = "marker";

std::atomic<bool> recording_ranges{true};

base::FutexLock arena_lock;
char* arena;
std::size_t arena_left;

// UTF-8 of a wide text, cut where `out` is full. Returns its size.
std::size_t narrow(const wchar_t* text, char* out, std::size_t room) {
  std::size_t size = 0;
  for (; *text != 0; ++text) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): wchar_t has 32 bits here
    const auto c = static_cast<std::uint32_t>(*text);
    char bytes[4];
    std::size_t n = 0;
    if (c < 0x80) {
      bytes[n++] = static_cast<char>(c);
    } else if (c < 0x800) {
      bytes[n++] = static_cast<char>(0xc0 | c >> 6);
      bytes[n++] = static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      bytes[n++] = static_cast<char>(0xe0 | c >> 12);
      bytes[n++] = static_cast<char>(0x80 | (c >> 6 & 63));
      bytes[n++] = static_cast<char>(0x80 | (c & 63));
    } else {
      bytes[n++] = static_cast<char>(0xf0 | (c >> 18 & 7));
      bytes[n++] = static_cast<char>(0x80 | (c >> 12 & 63));
      bytes[n++] = static_cast<char>(0x80 | (c >> 6 & 63));
      bytes[n++] = static_cast<char>(0x80 | (c & 63));
    }
    if (n > room - size) break;
    std::memcpy(out + size, bytes, n);
    size += n;
  }
  return size;
}

const Text* keep(std::string_view text) {
  constexpr std::size_t kArena = 1 << 16;
  const std::size_t size = (sizeof(Text) + text.size() + 7) & ~std::size_t{7};
  const base::LockGuard lock(arena_lock);
  if (size > arena_left) {
    const std::size_t wanted = size > kArena ? size : kArena;
    auto* fresh = static_cast<char*>(base::raw::map(wanted));
    if (fresh == nullptr) return nullptr;
    arena = fresh;
    arena_left = wanted;
  }
  auto* kept = reinterpret_cast<Text*>(arena);
  arena += size;
  arena_left -= size;
  kept->size = static_cast<std::uint32_t>(text.size());
  if (!text.empty()) std::memcpy(kept->bytes, text.data(), text.size());
  return kept;
}

// The text of an event: its own bytes, or `room` filled from a wide one.
template <std::size_t N>
std::string_view message_of(const Attributes* event, char (&room)[N]) {
  if (event == nullptr || event->size < offsetof(Attributes, message) + sizeof(void*)) return kUnnamed;
  const void* text = event->message.registered;
  if (text == nullptr) return kUnnamed;
  switch (event->message_type) {
    case kAscii: return event->message.ascii[0] != '\0' ? std::string_view(event->message.ascii) : kUnnamed;
    case kUnicode: return {room, narrow(event->message.unicode, room, N)};
    case kRegistered: return static_cast<const Text*>(text)->view();
    default: return kUnnamed;
  }
}

void add_payload(Region* region, const Attributes& event) {
  switch (event.payload_type) {
    case kUint64: return record::add_uint64(region, "payload", event.payload.u64);
    case kInt64: return record::add_int64(region, "payload", event.payload.i64);
    case kDouble: return record::add_double(region, "payload", event.payload.f64);
    case kUint32: return record::add_uint64(region, "payload", event.payload.u32);
    case kInt32: return record::add_int64(region, "payload", event.payload.i32);
    case kFloat: return record::add_double(region, "payload", static_cast<double>(event.payload.f32));
    default: return;
  }
}

Region* open(const void* domain, std::string_view name, const Attributes* event) {
  if (!recording_ranges.load(std::memory_order_relaxed)) return nullptr;
  Region* region = record::open_region(record::site_id(name, kCategory, model::Layer::kCuda));
  if (region == nullptr) return nullptr;
  if (domain != nullptr) record::add_string(region, "domain", static_cast<const Text*>(domain)->view());
  if (event == nullptr || event->size < offsetof(Attributes, message)) return region;
  if (event->category != 0) record::add_uint64(region, "category", event->category);
  if (event->color_type == kArgb) record::add_uint64(region, "color", event->color);
  add_payload(region, *event);
  return region;
}

Region* open(const void* domain, const Attributes* event) {
  char room[1024];
  return open(domain, message_of(event, room), event);
}

Region* open_wide(const wchar_t* text) {
  char room[1024];
  return open(nullptr, text != nullptr ? std::string_view(room, narrow(text, room, sizeof room)) : kUnnamed, nullptr);
}

Region* open_plain(const char* text) {
  return open(nullptr, text != nullptr && *text != '\0' ? std::string_view(text) : kUnnamed, nullptr);
}

// NVTX's answer is the depth.
int push(const void* domain, Region* region) { return push_range(domain, region); }
int pop(const void* domain) { return pop_range(domain); }

void mark(Region* region) {
  if (region != nullptr) record::close_as_instant(region);
}

std::uint64_t id_of(Region* region) { return reinterpret_cast<std::uintptr_t>(region); }
void end_range(std::uint64_t id) {
  auto* region = reinterpret_cast<Region*>(static_cast<std::uintptr_t>(id));
  if (record::is_open(region)) record::close_region(region);
}

// -- the functions of module CORE --
void mark_ex(const Attributes* event) { mark(open(nullptr, event)); }
void mark_a(const char* text) { mark(open_plain(text)); }
void mark_w(const wchar_t* text) { mark(open_wide(text)); }
std::uint64_t start_ex(const Attributes* event) { return id_of(open(nullptr, event)); }
std::uint64_t start_a(const char* text) { return id_of(open_plain(text)); }
std::uint64_t start_w(const wchar_t* text) { return id_of(open_wide(text)); }
int push_ex(const Attributes* event) { return push(nullptr, open(nullptr, event)); }
int push_a(const char* text) { return push(nullptr, open_plain(text)); }
int push_w(const wchar_t* text) { return push(nullptr, open_wide(text)); }
int pop_default() { return pop(nullptr); }

// -- of module CORE2 --
void domain_mark(const void* domain, const Attributes* event) { mark(open(domain, event)); }
std::uint64_t domain_start(const void* domain, const Attributes* event) { return id_of(open(domain, event)); }
void domain_end(const void*, std::uint64_t id) { end_range(id); }
int domain_push(const void* domain, const Attributes* event) { return push(domain, open(domain, event)); }
const void* create_text_a(const char* text) { return keep(text != nullptr ? text : ""); }
const void* create_text_w(const wchar_t* text) {
  char room[1024];
  return keep({room, text != nullptr ? narrow(text, room, sizeof room) : 0});
}
const void* register_a(const void*, const char* text) { return create_text_a(text); }
const void* register_w(const void*, const wchar_t* text) { return create_text_w(text); }

using Function = void (*)();
template <typename F>
Function generic(F* function) {
  return reinterpret_cast<Function>(function);
}

struct Entry {
  unsigned index;
  Function function;
};

struct CallbackTable {
  std::size_t size;
  int (*get_module)(std::int32_t module, Function*** table, unsigned* size);
};

template <std::size_t N>
bool install(const CallbackTable& callbacks, std::int32_t module, const Entry (&entries)[N]) {
  Function** table = nullptr;
  unsigned size = 0;
  if (callbacks.get_module(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Entry& entry : entries) {
    if (entry.index < size && table[entry.index] != nullptr) *table[entry.index] = entry.function;
  }
  return true;
}

}  // namespace

void record_ranges(bool on) { recording_ranges.store(on, std::memory_order_relaxed); }

void in_forked_child() {
  arena_lock.reset_after_fork();
  range_stacks_in_forked_child();
  arena_left = 0;
}

int initialize(GetExportTable get_table) {
  constexpr std::uint32_t kCallbacks = 1;
  constexpr std::int32_t kCore = 1;
  constexpr std::int32_t kCore2 = 5;
  if (!prepare_range_stacks()) return 0;
  const auto* callbacks = get_table != nullptr ? static_cast<const CallbackTable*>(get_table(kCallbacks)) : nullptr;
  if (callbacks == nullptr || callbacks->size < sizeof(CallbackTable)) return 0;
  const Entry core[] = {{1, generic(mark_ex)}, {2, generic(mark_a)},  {3, generic(mark_w)},      {4, generic(start_ex)},
                        {5, generic(start_a)}, {6, generic(start_w)}, {7, generic(end_range)},   {8, generic(push_ex)},
                        {9, generic(push_a)},  {10, generic(push_w)}, {11, generic(pop_default)}};
  const Entry core2[] = {
      {1, generic(domain_mark)},   {2, generic(domain_start)}, {3, generic(domain_end)},  {4, generic(domain_push)},
      {5, generic(pop)},           {10, generic(register_a)},  {11, generic(register_w)}, {12, generic(create_text_a)},
      {13, generic(create_text_w)}};
  // Both or none: an NVTX without domains is of before version 2.
  return install(*callbacks, kCore, core) && install(*callbacks, kCore2, core2) ? 1 : 0;
}

}  // namespace dft::gpu::nvtx
