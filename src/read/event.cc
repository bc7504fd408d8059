// SPDX-License-Identifier: MIT
#include "read/event.h"

#include <algorithm>
#include <cstring>

namespace dft::read {

std::string_view generation_name(Generation generation) {
  static constexpr std::string_view kNames[] = {"unknown", "G1a", "G1b", "G1c", "G1d", "G2", "G3"};
  return kNames[static_cast<int>(generation)];
}

std::string_view problem_name(ProblemKind kind) {
  static constexpr std::string_view kNames[kProblemKinds] = {
      "bad_json",   "bad_utf8",     "duplicate_key",  "bad_record", "line_too_long", "truncated",
      "bad_member", "bad_checksum", "trailing_bytes", "no_newline", "empty_file",    "cannot_read"};
  return kNames[static_cast<int>(kind)];
}

char* Arena::take(std::size_t size) {
  if (capacity_ - used_ < size) {
    capacity_ = std::max<std::size_t>(size, 16 * 1024);
    pieces_.push_back(std::make_unique<char[]>(capacity_));
    used_ = 0;
  }
  char* at = pieces_.back().get() + used_;
  used_ += size;
  return at;
}

void Arena::clear() {
  pieces_.clear();
  used_ = capacity_ = 0;
}

void Block::reserve(std::size_t size) {
  if (text_capacity >= size) return;
  const std::size_t wanted = std::max(size, text_capacity + text_capacity / 2);
  std::unique_ptr<char[]> bigger(new char[wanted + kPadding]);
  if (text_size != 0) std::memcpy(bigger.get(), text.get(), text_size);
  text = std::move(bigger);
  text_capacity = wanted;
}

void Block::clear() {
  events.clear();
  refs.clear();
  problems.clear();
  arena.clear();
  text_size = 0;
  lines = 0;
  if (text_capacity > (std::size_t{4} << 20)) {  // one huge block does not stay
    text.reset();
    text_capacity = 0;
  }
}

int layer_from_category(std::string_view cat, model::Phase phase) {
  using model::Layer;
  static constexpr struct {
    std::string_view cat;
    Layer layer;
  } kRows[] = {{"dftracer", Layer::kDftracer}, {"POSIX", Layer::kLibcIo},   {"STDIO", Layer::kLibcIo},
               {"C_APP", Layer::kCApp},        {"CPP_APP", Layer::kCppApp}, {"MPI", Layer::kMpi},
               {"MPIIO", Layer::kMpi},         {"HDF5", Layer::kHdf5},      {"FUNC", Layer::kFinstrument}};
  for (const auto& row : kRows) {
    if (row.cat == cat) return static_cast<int>(row.layer);
  }
  const bool counter = phase == model::Phase::kCounter;
  if (counter && (cat == "sys" || cat == "io" || cat == "net")) return static_cast<int>(Layer::kPsutil);
  if (phase == model::Phase::kComplete || phase == model::Phase::kAggregated) return static_cast<int>(Layer::kPython);
  return static_cast<int>(Layer::kUnknown);
}

}  // namespace dft::read
