// SPDX-License-Identifier: MIT
// Purpose: records -> lines -> blocks -> file. Knows nothing of threads; the drain owns one per trace file.
// Invariants:
//   1. A block reaches the file whole or not at all; what a lost block held is counted, and what later lines need of it
//      (the start-up records, hash records) is written again.
//   2. In crash-safe mode a chunk's progress becomes `drained` only after its block is in the file
//   (model/crash_file.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/clock.h"
#include "encode/block_compressor.h"
#include "encode/event_encoder.h"
#include "model/chunk.h"
#include "model/crash_file.h"
#include "write/block_index.h"
#include "write/file_sink.h"
#include "write/losses.h"

namespace dft::write {

// What the composition root adds to a file. Called on the drain's thread, possibly while the application is crashed: no
// malloc, no lock that the application could hold.
struct TraceNotes {
  virtual void prologue(encode::EventEncoder& encoder, std::uint64_t start_ns, base::Buffer& out) = 0;
  virtual void epilogue(encode::EventEncoder& encoder, const FileSink& file, const Losses& losses, std::uint64_t end_ns,
                        base::Buffer& out) = 0;

 protected:
  ~TraceNotes() = default;
};

struct WriterOptions {
  char stem[kMaxPath] = {};  // absolute prefix-hash-suffix
  bool compression = true;
  std::size_t block_size = 1 << 20;
  encode::EncoderOptions encoder;
};

class TraceWriter {
 public:
  TraceWriter(const WriterOptions& options, const model::Definitions& definitions, const base::ClockMap& clock,
              TraceNotes& notes);

  // Takes the memory of the blocks before there is anything to lose; where it is short, blocks become smaller. False
  // when there is not even enough for small ones.
  bool reserve_memory();
  // Opens the file. 0 or -errno; file().path() names what was tried.
  int open(bool shared_descriptors);
  bool is_open() const { return sink_.is_open(); }
  const FileSink& file() const { return sink_; }
  void descriptors_are_shared_now() { sink_.lost_descriptor(); }
  // Where commits are announced in crash-safe mode.
  void set_crash_header(model::CrashHeader* header);

  // Encodes the records of `chunk` that are pending, up to `committed`; commits when the block is full.
  void records(model::ChunkHeader* chunk, std::uint64_t committed);
  void open_region(const model::RegionSlot& slot, const char* args, base::Ticks now);
  void loss(Cause cause, std::uint64_t count, std::uint64_t bytes, std::uint64_t first_ns, std::uint64_t last_ns);
  void metadata(std::string_view name, std::string_view args_fragment);

  // Puts the start-up records and `start` into the file now.
  void begin();
  // Writes what is gathered. False when it did not reach the file.
  bool commit();
  // `end`, the last block, the index. The file is closed afterwards. False when the file got no `end`.
  bool close();

  // Chunks drained whole whose last block was not committed yet wait here (crash-safe mode).
  bool must_hold(const model::ChunkHeader* chunk) const;
  std::uint64_t lost_events() const { return losses_.total(); }
  Losses& losses() { return losses_; }

 private:
  void ensure_prologue();
  void record(const model::RecordHeader& record, const model::ChunkHeader* chunk);
  void report_losses();
  // 0 or -errno.
  int write_block(std::string_view bytes, std::uint64_t raw_size);
  void failed_block(int error);
  bool write_end();
  void note_progress(model::ChunkHeader* chunk, std::uint64_t end);
  void progress_is_safe();

  WriterOptions options_;
  TraceNotes& notes_;
  const base::ClockMap& clock_;
  encode::EventEncoder encoder_;
  encode::BlockCompressor compressor_;
  FileSink sink_;
  BlockIndex index_;
  Losses losses_;
  base::Buffer block_;
  base::Buffer packed_;
  base::Buffer touched_;  // ChunkHeader* with progress in the current block
  base::Buffer scratch_;
  base::Buffer spare_;  // given back at close, for what the last records need
  model::CrashHeader* crash_ = nullptr;
  std::uint64_t block_number_ = 1;
  bool prologue_in_file_ = false;
  bool prologue_in_block_ = false;
  unsigned reopened_told_ = 0;
  std::uint64_t events_in_block_ = 0;  // events of the application, without the start-up records
  std::uint64_t events_in_file_ = 0;
  bool said_cannot_write_ = false;
  bool file_gone_ = false;
};

}  // namespace dft::write
