// SPDX-License-Identifier: MIT
// Purpose: what a trace file says about its process: the start-up records, `start`, and `end` with cfg, build, used,
// app. Threads: prepared by the starting thread; app metadata and marks by any thread under one lock; prologue and
// epilogue on
//          the drain's thread, without malloc.
#pragma once

#include <atomic>
#include <string_view>

#include "base/buffer.h"
#include "base/futex_lock.h"
#include "config/config.h"
#include "session/identity.h"
#include "session/keyed_texts.h"
#include "write/trace_writer.h"

namespace dft::session {

// Which calls become events; noted as true in `end` when it was so at any time of the file.
struct Interception {
  bool bound;  // calls are led to the wrappers
  bool posix;
  bool stdio;
};

struct StartFacts {
  const config::Options& options;
  const Identity& identity;
  int pid;
  int ppid;
  Interception interception;
  const int* process_id;  // of the init call; null if none
};

class Notes final : public write::TraceNotes {
 public:
  void prepare(const StartFacts& facts);  // throws std::bad_alloc
  void prologue(encode::EventEncoder& encoder, std::uint64_t start_ns, base::Buffer& out) override;
  void epilogue(encode::EventEncoder& encoder, const write::FileSink& file, const write::Losses& losses,
                std::uint64_t end_ns, base::Buffer& out) override;

  void set_interception(Interception interception);
  void mark_used(std::string_view layer);
  void set_app(std::string_view key, std::int64_t value);
  void set_app(std::string_view key, std::string_view value);
  const char* host_hash() const { return host_hash_; }
  void reset_after_fork();  // a child starts with nothing of its parent's
  // The marks and metadata belong to the file that was just finished. REQUIRES: no drain at work.
  void clear();

 private:
  bool lock_in_time();
  void append_used(std::uint32_t layers, base::Buffer& out) const;
  void append_app(base::Buffer& out) const;
  void append_interception(base::Buffer& out) const;

  void put(KeyedTexts& texts, std::size_t key_size);

  base::FutexLock lock_;  // guards the next three
  KeyedTexts marks_;      // keys without texts
  KeyedTexts app_;        // values as JSON
  base::Buffer scratch_;
  // Prepared text, read-only afterwards.
  base::Buffer host_, cwd_, command_, exec_name_, rank_, rank_args_;
  base::Buffer start_args_;  // behind the hashes
  base::Buffer cfg_;         // "cfg":{...} but for the interception and log_file
  base::Buffer build_;
  base::Buffer prologue_, prologue_cfg_;  // the drain's, with room for all that it puts there
  char host_hash_[16] = {};
  char pid_text_[16] = {};
  std::atomic<bool> bound_{false}, posix_{false}, stdio_{false};
  std::string_view time_metric_;
  int pid_ = 0;
};

}  // namespace dft::session
