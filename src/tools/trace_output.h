// SPDX-License-Identifier: MIT
// Purpose: a new trace file that appears under its name only when it is complete: written beside it, synced, renamed.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "encode/block_compressor.h"

namespace dft::tools {

class TraceOutput {
 public:
  // kGzip: members as other writers make them, without the subfield by which a trace is known as ours.
  enum class Form { kPlain, kGzip, kSizedGzip };
  TraceOutput(std::string path, Form form);
  ~TraceOutput();  // removes what was not finished
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;

  // All return false after the first failure; error() says what it was.
  bool copy(const std::string& from, std::uint64_t bytes);  // the first `bytes` of another file, as they are
  bool lines(std::string_view text);                        // whole lines; blocks of about 1 MiB
  bool finish();
  const std::string& error() const { return error_; }

 private:
  bool write_block();
  bool put(std::string_view bytes);
  bool put_member(std::string_view member);
  bool fail(const char* what, int error);

  std::string path_;
  std::string temporary_;
  std::string error_;
  int fd_ = -1;
  Form form_;
  base::Buffer block_;
  base::Buffer packed_;
  encode::BlockCompressor compressor_;
};

}  // namespace dft::tools
