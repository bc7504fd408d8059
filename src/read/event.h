// SPDX-License-Identifier: MIT
// Purpose: what the reader hands out: events of every generation in one shape, and what was wrong with the input.
// Threads: plain data. The views of an Event point into its Block and live as long as that.
// See: docs/tools.md (reading), docs/format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace_format.h"

namespace dft::read {

// Generations of the trace format, oldest first.
enum class Generation : std::uint8_t { kUnknown, kG1a, kG1b, kG1c, kG1d, kG2, kG3 };
std::string_view generation_name(Generation generation);

// Well-known numeric args, as bits of Event::have and as indexes of Event::number.
enum KnownArg : std::uint8_t {
  kArgRet,
  kArgBytes,
  kArgSize,
  kArgCount,
  kArgDurNs,
  kArgDftCount,
  kArgDevice,       // device_id
  kArgCorrelation,  // correlation_id
  kArgGraph,        // graph_id
  kArgGraphNode,    // graph_node_id
  kArgSrcKind,      // src_kind, dst_kind: memory at the ends of a copy
  kArgDstKind,
  kKnownArgs
};

struct Event {
  std::string_view name;
  std::string_view cat;
  std::string_view args;   // raw JSON object with its braces, empty when absent
  std::string_view raw;    // the record's text without wrapper brackets and trailing comma
  std::string_view hhash;  // text of the hash, decimal or hex, empty when absent
  std::string_view fhash;
  std::string_view arg_name;  // METADATA: args.name and args.value, unescaped
  std::string_view arg_value;
  std::uint64_t id = 0;
  std::uint64_t ts = 0;  // in the unit of the file (Block::unit_ns)
  std::uint64_t dur = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t number[kKnownArgs] = {};
  std::uint32_t line = 0;    // 0-based within the block
  std::uint32_t offset = 0;  // of the line within the block's text
  std::int32_t type = 0;     // number as written, or derived from cat
  model::Phase phase = model::Phase::kUnknown;
  Generation generation = Generation::kUnknown;  // what this line alone tells; kUnknown when it tells nothing
  std::uint16_t have = 0;                        // bit per KnownArg
  bool has_id = false;
  bool has_type = false;     // false: derived
  bool hhash_first = false;  // args begins with hhash
  bool open_at_end = false;
  bool has(KnownArg arg) const { return (have >> arg & 1) != 0; }
  std::uint64_t end() const { return ts + dur; }
};

// An arg that refers to a hash record.
struct HashRef {
  char kind;  // 'F', 'H', 'S', or '?' where the key does not tell
  std::string_view hash;
  std::string_view key;
  std::uint32_t line;
  std::uint32_t offset;
};

enum class ProblemKind : std::uint8_t {
  kBadJson,        // a line is no JSON object
  kBadUtf8,        // a line is not valid UTF-8
  kDuplicateKey,   // strict only
  kBadRecord,      // a key that the phase needs is missing or has the wrong type
  kLineTooLong,    // a line over kMaxText, or over kMaxOddLine and no record; it is skipped
  kTruncated,      // the last gzip member ends too early
  kBadMember,      // deflate data or gzip header is broken
  kBadChecksum,    // CRC or length of a member is wrong
  kTrailingBytes,  // bytes behind the last member that are no gzip
  kNoNewline,      // the last line has no newline
  kEmptyFile,
  kCannotRead,
};
inline constexpr int kProblemKinds = 12;
std::string_view problem_name(ProblemKind kind);  // "bad_json", ...

struct Problem {
  ProblemKind kind = ProblemKind::kBadJson;
  std::uint64_t line = 0;  // 1-based, 0 where no line is meant
  std::uint64_t byte = 0;
  bool in_file = false;  // byte counts in the file as it lies on disk, else in its uncompressed text
  std::string reason;
};

// Memory for unescaped strings of one block.
class Arena {
 public:
  char* take(std::size_t size);
  void clear();

 private:
  std::vector<std::unique_ptr<char[]>> pieces_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

// Consecutive whole lines of one file.
struct Block {
  std::size_t file = 0;  // index into the list that was scanned
  std::uint64_t first_line = 1;
  std::uint64_t first_byte = 0;  // offset of the text in the uncompressed file
  std::uint64_t lines = 0;
  std::uint64_t unit_ns = 1000;  // from the file's time_metric record
  bool sized_member = false;     // came from a gzip member that carries our subfield
  std::vector<Event> events;
  std::vector<HashRef> refs;  // only when asked for
  std::vector<Problem> problems;
  Arena arena;

  std::unique_ptr<char[]> text;  // kPadding bytes readable behind text_size
  std::size_t text_size = 0;
  std::size_t text_capacity = 0;
  void reserve(std::size_t size);  // keeps the text
  void clear();
  std::string_view view() const { return {text.get(), text_size}; }
  std::uint64_t line_of(const Event& event) const { return first_line + event.line; }
  std::uint64_t byte_of(const Event& event) const { return first_byte + event.offset; }
};

inline constexpr std::size_t kPadding = 128;
// Text of a block counts in 32 bits, as the sizes in our gzip members do: no line that we write is longer.
inline constexpr std::size_t kMaxText = 0xffffffff;
// What does not begin as a record is given up much earlier, so that a file of something else takes no memory.
inline constexpr std::size_t kMaxOddLine = std::size_t{64} << 20;

// Layer number for a record without `type`.
int layer_from_category(std::string_view cat, model::Phase phase);

}  // namespace dft::read
