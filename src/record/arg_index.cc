// SPDX-License-Identifier: MIT
#include "record/arg_index.h"

#include <cstdint>
#include <cstring>
#include <functional>

#include "base/futex_lock.h"
#include "record/recorder.h"

namespace dft::record {

using model::ArgCursor;
using model::ArgHeader;
using model::ArgType;
using model::ArgView;
using model::ChunkHeader;

namespace {

constexpr unsigned kLongSearch = 64;  // args; fewer are found sooner without an index
constexpr std::size_t kFirstPlaces = 1024;

// What the index chunk holds: a table with open addressing, at most half full.
struct Index {
  std::size_t places;  // a power of two
  std::size_t used;
  std::uint32_t offsets[1];  // of the arg within its list, plus 1; 0: nothing
};

constexpr std::size_t bytes_of(std::size_t places) { return sizeof(Index) + places * sizeof(std::uint32_t); }

ChunkHeader* index_chunk(const ChunkHeader* list) { return static_cast<ChunkHeader*>(list->owner); }
Index* index_of(const ChunkHeader* list) {
  ChunkHeader* chunk = index_chunk(list);
  return chunk != nullptr ? reinterpret_cast<Index*>(chunk->data()) : nullptr;
}

std::string_view key_of(const ArgHeader* arg) { return {reinterpret_cast<const char*>(arg + 1), arg->key_len}; }

// Where the key stands, or where it is to be put.
std::uint32_t* place_of(Index& index, ChunkHeader* list, std::string_view key) {
  const std::size_t mask = index.places - 1;
  for (std::size_t at = std::hash<std::string_view>()(key) & mask;; at = (at + 1) & mask) {
    std::uint32_t& place = index.offsets[at];
    if (place == 0 || key_of(reinterpret_cast<ArgHeader*>(list->data() + place - 1)) == key) return &place;
  }
}

void put(Index& index, ChunkHeader* list, std::size_t offset, std::string_view key) {
  std::uint32_t* place = place_of(index, list, key);
  index.used += *place == 0 ? 1 : 0;
  *place = static_cast<std::uint32_t>(offset + 1);
}

bool counts(ArgType type) { return type < ArgType::kRelation || type == ArgType::kJson; }

std::size_t places_for(ArgCursor args) {
  std::size_t count = 0;
  for (ArgView arg; args.next(arg);) ++count;
  std::size_t places = kFirstPlaces;
  while (places < 4 * count) places *= 2;
  return places;
}

// Without an index the search stays slow: that is no reason to lose the arg.
void make_index(ChunkHeader* list, std::size_t bytes) {
  const base::SignalGuard signals;
  drop_arg_index(list);
  if (bytes > UINT32_MAX - 1) return;
  const std::size_t places = places_for(ArgCursor(list->data(), bytes));
  ChunkHeader* chunk = recorder.pool.take(model::ChunkKind::kSpill, bytes_of(places), true);
  if (chunk == nullptr) return;
  list->owner = chunk;
  auto& index = *reinterpret_cast<Index*>(chunk->data());
  std::memset(chunk->data(), 0, bytes_of(places));
  index.places = places;
  const char* at = list->data();
  ArgCursor cursor(at, bytes);
  for (ArgView arg; cursor.next(arg); at = cursor.at()) {
    if (counts(arg.type)) put(index, list, static_cast<std::size_t>(at - list->data()), {arg.key, arg.key_len});
  }
}

}  // namespace

ArgHeader* find_arg(char* args, std::size_t bytes, std::string_view key, unsigned* steps) {
  ArgCursor cursor(args, bytes);
  for (ArgView arg; cursor.next(arg); ++*steps) {
    if (counts(arg.type) && std::string_view(arg.key, arg.key_len) == key) {
      return reinterpret_cast<ArgHeader*>(const_cast<char*>(arg.key)) - 1;
    }
  }
  return nullptr;
}

ArgHeader* find_arg(ChunkHeader* list, std::size_t bytes, std::string_view key) {
  if (Index* index = index_of(list)) {
    const std::uint32_t place = *place_of(*index, list, key);
    return place != 0 ? reinterpret_cast<ArgHeader*>(list->data() + place - 1) : nullptr;
  }
  unsigned steps = 0;
  ArgHeader* found = find_arg(list->data(), bytes, key, &steps);
  if (steps >= kLongSearch) make_index(list, bytes);
  return found;
}

void note_arg(ChunkHeader* list, std::size_t offset, std::string_view key) {
  Index* index = index_of(list);
  if (index == nullptr) return;
  if (offset >= UINT32_MAX) {
    const base::SignalGuard signals;
    drop_arg_index(list);
    return;
  }
  put(*index, list, offset, key);
  if (index->used > index->places / 2) {
    const auto* arg = reinterpret_cast<const ArgHeader*>(list->data() + offset);
    make_index(list, offset + model::arg_size(arg->key_len, arg->value_len));
  }
}

void hand_on_arg_index(ChunkHeader* from, ChunkHeader* to) {
  to->owner = from->owner;
  from->owner = nullptr;
}

void drop_arg_index(ChunkHeader* list) {
  ChunkHeader* index = index_chunk(list);
  if (index == nullptr) return;
  list->owner = nullptr;  // first: a fork follows it (interrupted.cc)
  recorder.pool.give_back(index);
}

}  // namespace dft::record
