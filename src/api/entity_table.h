// SPDX-License-Identifier: MIT
// Purpose: which entities and entity types this process has declared, and which of them the current trace file knows.
//          Every file must explain the ids that it uses, so after a restart or fork they are written again on use.
// Threads: any; one lock, held briefly with signals blocked; a forked child takes over a lock left held by its parent.
// Invariants:
//   1. The first declaration of an id fixes its texts; they are never moved or freed.
//   2. Bounded: kMostEntities, then declarations are written every time instead of being remembered.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace dft::api {

struct Declaration {
  std::uint64_t id;
  bool is_type;  // ET: `type` and `text` = description; else EH: `type` and `text` = uri
  int detail;    // role or store
  std::string_view type;
  std::string_view text;
};

// Identifies the trace file that records go to now. Never 0.
using FileKey = std::uint64_t;

class EntityTable {
 public:
  static constexpr std::size_t kMostEntities = std::size_t{1} << 18;

  // Remembers it if it is new. True when it must be written to `file`, then `first` is what to write.
  bool declare(const Declaration& declaration, FileKey file, Declaration& first);
  // The same for one that may have been declared earlier; false for unknown ids.
  bool use(std::uint64_t id, bool is_type, FileKey file, Declaration& first);
  // The record asked for by declare or use went to `file`: the first record of a file opens it.
  void wrote(std::uint64_t id, bool is_type, FileKey file);

 private:
  struct Entry {
    std::uint64_t id;  // 0: free. Stored last, so that a fork in the middle of an insertion leaves it free
    FileKey file;
    const char* text;  // type, then description or uri
    int detail;
    std::uint8_t type_length;
    std::uint8_t text_length;
    bool is_type;
  };
  class Lock;

  Entry* find(std::uint64_t id, bool is_type);
  Entry* slot_for(Entry* entries, std::size_t capacity, std::uint64_t id, bool is_type) const;
  bool make_room();
  const char* keep(std::string_view type, std::string_view text);

  std::atomic<std::int32_t> owner_{0};  // pid of the process that holds the lock
  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t count_ = 0;
  char* block_ = nullptr;  // texts are appended here
  std::size_t block_left_ = 0;
};

}  // namespace dft::api
