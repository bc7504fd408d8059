// SPDX-License-Identifier: MIT
#include "read/line_parser.h"

#include <cstring>

#include "read/event_builder.h"

namespace dft::read {
namespace {

// FH, HH and SH are the only names that end so; what passes by chance is sorted out after parsing.
bool may_be_hash_record(std::string_view line) {
  const char* at = line.data();
  const char* const end = at + line.size();
  while ((at = static_cast<const char*>(memmem(at, static_cast<std::size_t>(end - at), "H\"", 2))) != nullptr) {
    if (at - line.data() >= 2 && at[-2] == '"' && (at[-1] == 'F' || at[-1] == 'H' || at[-1] == 'S')) return true;
    at += 2;
  }
  return false;
}

int kind_index(char kind) { return kind == 'F' ? 0 : kind == 'H' ? 1 : kind == 'S' ? 2 : 3; }

// Length of the valid UTF-8 sequence at the front, 0 when there is none (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    return first == 0xed && byte(1) > 0x9f ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    return first == 0xf4 && byte(1) > 0x8f ? 0 : 4;
  }
  return 0;
}

}  // namespace

void LineParser::parse(Block& block) {
  constexpr int kManyOdd = 16;
  const std::string_view text = block.view();
  for (auto& last : last_ref_) last = {};
  int odd = 0;  // lines that were not compact
  bool indexed = false;
  bool may_escape = true;
  std::size_t token = 0;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const void* newline = std::memchr(text.data() + begin, '\n', text.size() - begin);
    const std::size_t end =
        newline == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data());
    const Line line{text.substr(begin, end - begin), number, static_cast<std::uint32_t>(begin)};
    begin = end + 1;
    if (options_.hash_records_only && !may_be_hash_record(line.text)) continue;
    if (parse_compact(block, line)) continue;
    // Many odd lines: find the tokens of the whole block at once.
    if (++odd == kManyOdd && !options_.hash_records_only) {
      indexed = tokens_.index(text);
      may_escape = std::memchr(text.data(), '\\', text.size()) != nullptr;
    }
    if (!indexed) {
      parse_alone(block, line);
      continue;
    }
    while (token < tokens_.count() && tokens_.position(token) < line.offset) ++token;
    JsonCursor cursor(tokens_, token, static_cast<std::uint32_t>(end), may_escape, options_.strict);
    parse_tokens(block, line, cursor);
    token = cursor.next_token();
  }
  block.lines = number;
}

bool LineParser::parse_compact(Block& block, const Line& line) {
  CompactCursor cursor(line.text);
  const std::size_t refs_before = block.refs.size();
  EventBuilder<CompactCursor> builder(cursor, block.arena, options_.collect_refs ? &block.refs : nullptr);
  std::string reason;
  if (!builder.read() || !cursor.at_end() || !builder.complete(options_.strict, reason)) {
    block.refs.resize(refs_before);
    return false;
  }
  builder.event().raw = line.text;
  keep(block, line, builder.event(), refs_before);
  return true;
}

// A line of a block in which something makes token positions unreliable: read by itself, so that the damage stays in
// it.
void LineParser::parse_alone(Block& block, const Line& line) {
  if (!tokens_.index(line.text)) {
    if (!tokens_.bad_utf8()) return report(block, line, ProblemKind::kBadJson, 0, tokens_.reason());
    std::size_t at = 0;
    for (std::size_t step; at < line.text.size() && (step = utf8_length(line.text.substr(at))) != 0;) at += step;
    report(block, line, ProblemKind::kBadUtf8, at, "invalid UTF-8");
    if (!options_.strict) parse_repaired(block, line);
    return;
  }
  JsonCursor cursor(tokens_, 0, static_cast<std::uint32_t>(line.text.size()), true, options_.strict);
  parse_tokens(block, line, cursor);
}

void LineParser::parse_repaired(Block& block, const Line& line) {
  std::string good;
  for (std::string_view rest = line.text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    good += length != 0 ? rest.substr(0, length) : std::string_view("\xef\xbf\xbd");
    rest.remove_prefix(length != 0 ? length : 1);
  }
  char* room = block.arena.take(good.size() + kPadding);
  std::memcpy(room, good.data(), good.size());
  std::memset(room + good.size(), ' ', kPadding);
  const Line repaired{{room, good.size()}, line.number, line.offset};
  if (!tokens_.index(repaired.text)) return;  // reported already
  JsonCursor cursor(tokens_, 0, static_cast<std::uint32_t>(good.size()), true, false);
  const std::size_t before = block.problems.size();
  parse_tokens(block, repaired, cursor);
  block.problems.resize(before);  // one problem a line
}

bool LineParser::parse_tokens(Block& block, const Line& line, JsonCursor& cursor) {
  const auto base = static_cast<std::size_t>(line.text.data() - cursor.text());
  const auto broken = [&](ProblemKind kind, std::string reason) {
    report(block, line, kind, cursor.error_at() - base, std::move(reason));
    return false;
  };
  const std::size_t begin_token = cursor.next_token();
  if (cursor.peek() == '[') cursor.skip();
  while (cursor.peek() == ']' || cursor.peek() == ',') cursor.skip();
  if (cursor.at_end()) return true;
  const std::size_t refs_before = block.refs.size();
  const std::uint32_t begin = cursor.at();
  EventBuilder<JsonCursor> builder(cursor, block.arena, options_.collect_refs ? &block.refs : nullptr);
  bool good = builder.read();
  if (good) {
    builder.event().raw = cursor.span(begin);
    while (cursor.peek() == ',' || cursor.peek() == ']') cursor.skip();
    if (!cursor.at_end()) good = cursor.fail("text behind the object");
  }
  if (!good && cursor.duplicate()) {
    // Reported, but the record is one all the same: the last of equal keys counts.
    block.refs.resize(refs_before);
    broken(ProblemKind::kDuplicateKey, cursor.reason());
    JsonCursor again(cursor, begin_token);
    return parse_tokens(block, line, again);
  }
  if (!good) {
    block.refs.resize(refs_before);
    return broken(ProblemKind::kBadJson, cursor.reason());
  }
  std::string reason;
  if (!builder.complete(options_.strict, reason)) {
    block.refs.resize(refs_before);
    cursor.fail("");
    report(block, line, ProblemKind::kBadRecord, 0, std::move(reason));
    return false;
  }
  keep(block, line, builder.event(), refs_before);
  return true;
}

void LineParser::keep(Block& block, const Line& line, Event& event, std::size_t refs_before) {
  std::size_t kept = refs_before;
  for (std::size_t i = refs_before; i < block.refs.size(); ++i) {
    HashRef ref = block.refs[i];
    std::string_view& last = last_ref_[kind_index(ref.kind)];
    if (last == ref.hash) continue;
    last = ref.hash;
    ref.line = line.number;
    ref.offset = line.offset;
    block.refs[kept++] = ref;
  }
  block.refs.resize(kept);
  event.line = line.number;
  event.offset = line.offset;
  block.events.push_back(event);
}

void LineParser::report(Block& block, const Line& line, ProblemKind kind, std::size_t at, std::string reason) {
  Problem problem;
  problem.kind = kind;
  problem.line = line.number + 1;
  problem.byte = line.offset + std::min(at, line.text.size());
  problem.reason = std::move(reason);
  block.problems.push_back(std::move(problem));
}

}  // namespace dft::read
