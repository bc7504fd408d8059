// SPDX-License-Identifier: MIT
// Purpose: what each block of a trace holds, written beside it at close (`.dfi`), so that readers seek and skip.
// Threads: one owner (the drain). See: docs/format.md (block index).
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "encode/event_encoder.h"
#include "write/file_sink.h"

namespace dft::write {

class BlockIndex {
 public:
  void add(std::uint64_t offset, std::uint64_t size, std::uint64_t raw_size, const encode::BlockStats& stats);
  // Writes `<stem>.dfi`, a `.pfw` within the stem's file name as `_pfw`. A failure leaves no index, which readers do
  // without; 0 or -errno.
  int write(const FileSink& trace);
  void forget() { lines_.forget(), members_ = 0, lines_total_ = 0, events_total_ = 0; }

 private:
  base::Buffer lines_;
  std::uint64_t members_ = 0;
  std::uint64_t lines_total_ = 0;
  std::uint64_t events_total_ = 0;
};

}  // namespace dft::write
