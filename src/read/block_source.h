// SPDX-License-Identifier: MIT
// Purpose: a trace file -> pieces of work, each a block of whole lines: text that is there already, or one gzip member
//          of ours that still has to be inflated (by whoever does the work, in parallel).
// Threads: BlockSource has one owner; inflate_member may run anywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "read/event.h"
#include "read/gzip_stream.h"
#include "read/input_file.h"

namespace dft::read {

struct Work {
  Block block;
  std::shared_ptr<const InputFile> member_file;  // set: inflate_member has to fill the block
  std::uint64_t member_offset = 0;
  MemberHeader member;
  bool member_cut = false;     // the file ends inside it
  std::uint64_t disk_end = 0;  // file offset up to which this work reaches
  bool last = false;           // nothing of this file follows
};

class BlockSource {
 public:
  BlockSource(const std::string& path, std::size_t block_size);
  // Fills `work`; the one with `last` set is the final one (it may hold no text, only problems).
  void next(Work& work);

  bool is_gzip() const { return gzip_; }
  std::uint64_t size() const { return file_ ? file_->size() : 0; }

 private:
  bool next_member(Work& work);
  void next_text(Work& work);
  std::size_t read_some(Work& work);
  void cut_at_newline(Block& block);
  bool make_room(Block& block);
  void skip_long_line(Block& block);
  void drop_unfinished(Block& block, Problem problem);

  std::shared_ptr<const InputFile> file_;
  std::string open_error_;
  std::size_t block_size_;
  bool gzip_ = false;
  bool hopping_ = false;
  std::uint64_t offset_ = 0;  // plain text, and members while hopping
  std::unique_ptr<GzipStream> stream_;
  std::string carry_;      // begin of a line whose end is not read yet
  bool skipping_ = false;  // inside a line that is too long
  bool ended_ = false;
  bool block_ends_ = false;
};

// Fills work.block from its member; damage becomes problems of the block.
void inflate_member(Work& work, Inflater& inflater, std::string& scratch);

}  // namespace dft::read
