// SPDX-License-Identifier: MIT
// Purpose: reads trace files in parallel and hands their blocks to a consumer in file order.
// Threads: one thread cuts files into work, `workers` threads inflate and parse, the caller's thread consumes.
// Invariant: at most 2 * workers + 2 blocks exist at a time, whatever the size of the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "read/event.h"
#include "read/line_parser.h"

namespace dft::read {

struct FileReport {
  std::size_t file = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t problems = 0;
  std::uint64_t sized_members = 0;  // gzip members that carry our subfield
  std::uint64_t unit_ns = 1000;
  Generation generation = Generation::kUnknown;
  bool gzip = false;
};

class Consumer {
 public:
  virtual ~Consumer() = default;
  // On a worker thread, before block(): may thin out block.events. Must be safe to run on several blocks at once.
  virtual void prepare(Block&) const {}
  // In file order, line by line. False stops the scan.
  virtual bool block(const Block& block) = 0;
  virtual void file_done(const FileReport&) {}
};

struct ScanOptions {
  ParseOptions parse;
  unsigned workers = 0;  // 0: one per core, 16 at most
  std::size_t block_size = std::size_t{1} << 20;
  std::function<void(std::uint64_t disk_bytes)> progress;  // on the caller's thread, after each block
};

// False when the consumer stopped it.
bool scan(const std::vector<std::string>& files, const ScanOptions& options, Consumer& consumer);

}  // namespace dft::read
