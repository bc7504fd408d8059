// SPDX-License-Identifier: MIT
// Purpose: a recording of CUPTI: its buffers as they came, with the texts that their records point to, the names of
//          calls, and what was asked of it. Written by record_cupti (on a GPU) and make_synthetic, read by the
//          stand-in.
// A recording is of one CUPTI release, whose records have one size a kind. Little-endian, of x86-64.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace standin {

struct Pointer {
  std::uint32_t offset;  // in the buffer, of eight bytes that hold a pointer
  std::uint32_t text;    // index of the text; ~0: null
};
struct Buffer {
  std::uint32_t thread = 0;  // number of the thread that handed it over
  std::string bytes;
  std::vector<Pointer> pointers;
};
struct Recording {
  std::uint32_t api = 0;
  std::map<std::uint32_t, std::uint32_t> kinds;                          // kind -> bytes of a record
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;  // (domain, id) -> name
  std::map<std::uint32_t, std::int32_t> enabled;                         // kind -> result of enabling it
  std::vector<std::string> texts;
  std::vector<Buffer> buffers;  // in the order in which they came
  std::uint64_t dropped = 0;

  std::uint32_t text(const char* bytes) {
    if (bytes == nullptr) return ~0u;
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      if (texts[i] == bytes) return i;
    }
    texts.push_back(bytes);
    return static_cast<std::uint32_t>(texts.size() - 1);
  }
};

// Offsets of the pointers to texts in records of a kind, and the least size of a record that has each.
struct TextField {
  std::uint32_t kind, offset, least;
};
inline constexpr TextField kTextFields[] = {{3, 104, 144},  {10, 104, 144}, {8, 136, 144}, {49, 64, 112},
                                            {49, 120, 128}, {12, 40, 56},   {12, 48, 56}};

// Offsets of the times in records of a kind; the second of a pair is the end.
struct TimeField {
  std::uint32_t kind, offset;
  bool is_end;
};
inline constexpr TimeField kTimeFields[] = {
    {1, 16, false},  {1, 24, true},   {2, 16, false}, {2, 24, true},   {3, 16, false},  {3, 24, true},   {3, 32, true},
    {10, 16, false}, {10, 24, true},  {10, 32, true}, {22, 16, false}, {22, 24, true},  {25, 16, false}, {25, 24, true},
    {4, 8, false},   {4, 16, true},   {5, 8, false},  {5, 16, true},   {38, 8, false},  {38, 16, true},  {51, 8, false},
    {51, 16, true},  {17, 24, false}, {17, 32, true}, {49, 32, false}, {50, 56, false}, {12, 8, false}};

class File {
 public:
  File(const char* path, const char* mode) : file_(std::fopen(path, mode)) {}
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  bool good() const { return file_ != nullptr && good_; }
  void put(std::uint64_t value) { good_ = std::fwrite(&value, 8, 1, file_) == 1 && good_; }
  void put(const std::string& text) {
    put(text.size());
    good_ = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && good_;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    good_ = std::fread(&value, 8, 1, file_) == 1 && good_;
    return good_ ? value : 0;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(number()); }
  std::string text() {
    const std::uint64_t size = number();
    if (size > (64u << 20)) good_ = false;
    std::string bytes(good_ ? size : 0, '\0');
    good_ = std::fread(&bytes[0], 1, bytes.size(), file_) == bytes.size() && good_;
    return bytes;
  }

 private:
  std::FILE* file_;
  bool good_ = true;
};

inline constexpr const char* kMagic = "DFTRACER CUPTI recording 1\n";

inline bool save(const Recording& recording, const char* path) {
  File file(path, "wb");
  if (!file.good()) return false;
  file.put(std::string(kMagic));
  file.put(recording.api);
  file.put(recording.dropped);
  file.put(recording.kinds.size());
  for (const auto& [kind, size] : recording.kinds) file.put(kind), file.put(size);
  file.put(recording.enabled.size());
  for (const auto& [kind, result] : recording.enabled) file.put(kind), file.put(static_cast<std::uint32_t>(result));
  file.put(recording.names.size());
  for (const auto& [key, name] : recording.names) file.put(key.first), file.put(key.second), file.put(name);
  file.put(recording.texts.size());
  for (const std::string& text : recording.texts) file.put(text);
  file.put(recording.buffers.size());
  for (const Buffer& buffer : recording.buffers) {
    file.put(buffer.thread);
    file.put(buffer.pointers.size());
    for (const Pointer& pointer : buffer.pointers) file.put(pointer.offset), file.put(pointer.text);
    file.put(buffer.bytes);
  }
  return file.good();
}

inline bool load(const char* path, Recording* out) {
  File file(path, "rb");
  if (!file.good() || file.text() != kMagic) return false;
  out->api = file.word();
  out->dropped = file.number();
  for (std::uint64_t left = file.number(); left-- > 0 && file.good();) {
    const std::uint32_t kind = file.word();
    out->kinds[kind] = file.word();
  }
  for (std::uint64_t left = file.number(); left-- > 0 && file.good();) {
    const std::uint32_t kind = file.word();
    out->enabled[kind] = static_cast<std::int32_t>(file.word());
  }
  for (std::uint64_t left = file.number(); left-- > 0 && file.good();) {
    const std::uint32_t domain = file.word();
    const std::uint32_t id = file.word();
    out->names[{domain, id}] = file.text();
  }
  for (std::uint64_t left = file.number(); left-- > 0 && file.good();) out->texts.push_back(file.text());
  for (std::uint64_t left = file.number(); left-- > 0 && file.good();) {
    Buffer buffer;
    buffer.thread = file.word();
    for (std::uint64_t pointers = file.number(); pointers-- > 0 && file.good();) {
      const std::uint32_t offset = file.word();
      buffer.pointers.push_back({offset, file.word()});
    }
    buffer.bytes = file.text();
    out->buffers.push_back(std::move(buffer));
  }
  return file.good();
}

}  // namespace standin
