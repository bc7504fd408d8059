// SPDX-License-Identifier: MIT
// Purpose: the lines of a block -> events and problems, for all generations of the format.
// Threads: one owner; a parser keeps its memory between blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "read/event.h"
#include "read/json_tokens.h"

namespace dft::read {

struct ParseOptions {
  bool strict = false;             // duplicate keys, invalid UTF-8 and missing keys are problems, the line is no event
  bool collect_refs = false;       // fill Block::refs
  bool hash_records_only = false;  // skip every line that cannot be an FH, HH or SH record
};

class LineParser {
 public:
  explicit LineParser(const ParseOptions& options) : options_(options) {}
  // Fills events, refs, problems (lines counted from 1, bytes from 0 of this block) and lines.
  void parse(Block& block);

 private:
  struct Line {
    std::string_view text;  // without newline
    std::uint32_t number;   // 0-based
    std::uint32_t offset;   // in the block
  };
  void parse_alone(Block& block, const Line& line);
  void parse_repaired(Block& block, const Line& line);
  bool parse_compact(Block& block, const Line& line);
  bool parse_tokens(Block& block, const Line& line, JsonCursor& cursor);
  void keep(Block& block, const Line& line, Event& event, std::size_t refs_before);
  void report(Block& block, const Line& line, ProblemKind kind, std::size_t at, std::string reason);

  ParseOptions options_;
  JsonTokens tokens_;
  std::string_view last_ref_[4];  // the last reference of each kind is not repeated
};

}  // namespace dft::read
