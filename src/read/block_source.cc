// SPDX-License-Identifier: MIT
#include "read/block_source.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.h"

namespace dft::read {
namespace {

constexpr std::uint64_t kMaxExpansion = 1100;  // deflate cannot do more than 1032

bool plausible(const MemberHeader& header) {
  return header.member_size > header.size + kTrailerSize && header.text_size <= header.member_size * kMaxExpansion;
}

// Where bytes are gone, a hop would land within a later member.
bool ends_at_a_member(const InputFile& file, std::uint64_t end) {
  if (end >= file.size()) return true;
  unsigned char magic[2] = {};
  return file.read_at(end, magic, sizeof magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

// A first block that is damaged must not turn a compressed trace into text.
bool begins_as_gzip(std::string_view path, std::string_view first) {
  if (first.size() == 2 && first[0] == '\x1f' && first[1] == '\x8b') return true;
  const bool named = path.size() > 3 && path.substr(path.size() - 3) == ".gz";
  return named && !first.empty() && std::string_view("{[]\n\r\t ").find(first[0]) == std::string_view::npos;
}

// Records are objects; the old format has lone brackets and commas besides.
bool may_be_record(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r");
  return at == std::string_view::npos || std::string_view("{[],").find(text[at]) != std::string_view::npos;
}

void add_problem(Block& block, ProblemKind kind, std::uint64_t byte, std::string reason) {
  Problem problem;
  problem.kind = kind;
  problem.byte = byte;
  problem.in_file = true;
  problem.reason = std::move(reason);
  block.problems.push_back(std::move(problem));
}

std::size_t after_last_newline(const Block& block) {
  const void* newline = block.text_size == 0 ? nullptr : memrchr(block.text.get(), '\n', block.text_size);
  return newline == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(newline) - block.text.get()) + 1;
}

}  // namespace

BlockSource::BlockSource(const std::string& path, std::size_t block_size) : block_size_(block_size) {
  file_ = InputFile::open(path, open_error_);
  if (!file_) return;
  char first[2] = {};
  const std::ptrdiff_t got = file_->read_at(0, first, sizeof first);
  gzip_ = begins_as_gzip(path, {first, got > 0 ? static_cast<std::size_t>(got) : 0});
  hopping_ = gzip_;
}

void BlockSource::next(Work& work) {
  work.block.clear();
  work.member_file.reset();
  work.last = false;
  if (!file_) {
    add_problem(work.block, ProblemKind::kCannotRead, 0, open_error_);
    work.last = true;
    return;
  }
  if (file_->size() == 0) {
    add_problem(work.block, ProblemKind::kEmptyFile, 0, "the file is empty");
    work.last = true;
    return;
  }
  if (!hopping_ || !next_member(work)) next_text(work);
}

bool BlockSource::next_member(Work& work) {
  unsigned char head[64];
  const std::ptrdiff_t got = file_->read_at(offset_, head, sizeof head);
  MemberHeader header;
  const bool hop = got > 0 && read_member_header(head, static_cast<std::size_t>(got), header) == HeaderStatus::kGood &&
                   header.ours && plausible(header) && ends_at_a_member(*file_, offset_ + header.member_size);
  if (!hop) {
    hopping_ = false;
    stream_ = std::make_unique<GzipStream>(file_, offset_);
    return false;
  }
  const std::uint64_t left = file_->size() - offset_;
  work.member_file = file_;
  work.member_offset = offset_;
  work.member = header;
  work.member_cut = header.member_size > left;
  offset_ += std::min<std::uint64_t>(left, header.member_size);
  work.disk_end = offset_;
  work.last = offset_ >= file_->size();
  return true;
}

void BlockSource::next_text(Work& work) {
  Block& block = work.block;
  block.reserve(std::max(block_size_, carry_.size() + block_size_ / 4));
  std::memcpy(block.text.get(), carry_.data(), carry_.size());
  block.text_size = carry_.size();
  carry_.clear();
  block_ends_ = false;
  while (!ended_ && !block_ends_) {
    if (block.text_size == std::min(block.text_capacity, kMaxText)) {
      if (after_last_newline(block) != 0) break;
      if (!make_room(block)) skip_long_line(block);
    }
    const std::size_t before = block.text_size;
    block.text_size += read_some(work);
    if (skipping_) {
      const void* newline = std::memchr(block.text.get() + before, '\n', block.text_size - before);
      const std::size_t drop = newline == nullptr
                                   ? block.text_size
                                   : static_cast<std::size_t>(static_cast<const char*>(newline) - block.text.get());
      std::memmove(block.text.get(), block.text.get() + drop, block.text_size - drop);
      block.text_size -= drop;
      skipping_ = newline == nullptr;
    }
  }
  work.disk_end = stream_ ? stream_->at() : offset_;
  work.last = ended_;
  cut_at_newline(block);
  if (block.text_size != 0) std::memset(block.text.get() + block.text_size, ' ', kPadding);
}

std::size_t BlockSource::read_some(Work& work) {
  Block& block = work.block;
  char* const out = block.text.get() + block.text_size;
  const std::size_t room = std::min(block.text_capacity, kMaxText) - block.text_size;
  if (!stream_) {
    const std::ptrdiff_t got = file_->read_at(offset_, out, room);
    if (got < 0)
      add_problem(block, ProblemKind::kCannotRead, offset_, std::string(base::error_text(static_cast<int>(-got))));
    ended_ = got < static_cast<std::ptrdiff_t>(room);
    offset_ += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  std::size_t given = 0;
  switch (stream_->read(out, room, given)) {
    case GzipStream::Status::kMore: break;
    case GzipStream::Status::kEnd: ended_ = true; break;
    case GzipStream::Status::kOurs:
      hopping_ = block_ends_ = true;
      offset_ = stream_->at();
      stream_.reset();
      break;
    case GzipStream::Status::kDamaged: {
      block.text_size += given;
      drop_unfinished(block, stream_->problem());
      return 0;
    }
  }
  return given;
}

// What follows does not continue the line that was being read.
void BlockSource::drop_unfinished(Block& block, Problem problem) {
  const std::size_t whole = after_last_newline(block);
  if (whole != block.text_size) {
    problem.reason += "; " + std::to_string(block.text_size - whole) + " bytes of an unfinished line are dropped";
  }
  block.text_size = whole;
  block.problems.push_back(std::move(problem));
}

// For more of a line that fills the block. False when it is too long.
bool BlockSource::make_room(Block& block) {
  const std::size_t most = may_be_record(block.view()) ? kMaxText : kMaxOddLine;
  if (block.text_size >= most) return false;
  try {
    block.reserve(std::min(block.text_capacity * 2, most));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void BlockSource::skip_long_line(Block& block) {
  add_problem(block, ProblemKind::kLineTooLong, stream_ ? stream_->at() : offset_,
              "a line is longer than " + std::to_string(block.text_size >> 20) + " MiB; it is skipped");
  block.text_size = 0;
  skipping_ = true;
}

void BlockSource::cut_at_newline(Block& block) {
  const std::size_t whole = after_last_newline(block);
  if (whole == block.text_size) return;
  if (!ended_) {
    carry_.assign(block.text.get() + whole, block.text_size - whole);
    block.text_size = whole;
    return;
  }
  // The old format ends with a lone bracket and no newline.
  const std::string_view tail(block.text.get() + whole, block.text_size - whole);
  if (tail.find_first_not_of("] \t\r") != std::string_view::npos) {
    add_problem(block, ProblemKind::kNoNewline, stream_ ? stream_->at() : offset_, "the last line has no newline");
  }
}

namespace {

// Inflates data[0, size) into the block's text; returns true when the stream ended, with what is behind it in `rest`.
Inflater::Status inflate_all(Block& block, Inflater& inflater, const unsigned char*& in, std::size_t& left,
                             std::size_t expected) {
  // A member that holds more than it tells is read all the same, unless it is out of all proportion.
  const std::size_t most = std::min(expected + kMaxOddLine, kMaxText);
  inflater.reset();
  block.text_size = 0;
  block.reserve(expected + 1);
  for (;;) {
    char* out = block.text.get() + block.text_size;
    std::size_t room = std::min(block.text_capacity, kMaxText) - block.text_size;
    const std::size_t before = left;
    const Inflater::Status status = inflater.run(in, left, out, room);
    block.text_size = static_cast<std::size_t>(out - block.text.get());
    if (status != Inflater::Status::kMore) return status;
    if (room != 0 && left == before) return status;
    if (room == 0) {
      if (block.text_size >= most) return Inflater::Status::kBroken;
      block.reserve(std::min(block.text_capacity * 2, most));
    }
  }
}

}  // namespace

void inflate_member(Work& work, Inflater& inflater, std::string& scratch) {
  Block& block = work.block;
  const std::uint64_t left = work.member_file->size() - work.member_offset;
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, work.member.member_size));
  scratch.resize(size);
  const std::ptrdiff_t got = work.member_file->read_at(work.member_offset, scratch.data(), size);
  if (got < static_cast<std::ptrdiff_t>(size)) {
    const bool failed = got < 0;
    return add_problem(block, failed ? ProblemKind::kCannotRead : ProblemKind::kTruncated, work.member_offset,
                       failed ? std::string(base::error_text(static_cast<int>(-got))) : "the file became shorter");
  }
  const auto* in = reinterpret_cast<const unsigned char*>(scratch.data()) + work.member.size;
  std::size_t rest = size - work.member.size;
  const Inflater::Status status = inflate_all(block, inflater, in, rest, work.member.text_size);
  const std::uint64_t end = work.member_offset + size - rest;
  if (status == Inflater::Status::kEnd && rest == kTrailerSize) {
    const MemberTrailer trailer = read_member_trailer(in);
    if (trailer.crc != gzip_crc(0, block.text.get(), block.text_size) || trailer.size != block.text_size) {
      add_problem(block, ProblemKind::kBadChecksum, work.member_offset, "checksum of the gzip member is wrong");
    } else if (block.text_size != work.member.text_size) {
      add_problem(block, ProblemKind::kBadMember, work.member_offset, "the gzip member names a wrong size of its text");
    }
  } else if (status == Inflater::Status::kBroken) {
    add_problem(block, ProblemKind::kBadMember, end, "invalid deflate data");
  } else if (work.member_cut) {
    add_problem(block, ProblemKind::kTruncated, work.member_offset + size, "the file ends inside a gzip member");
  } else {
    add_problem(block, ProblemKind::kBadMember, work.member_offset, "the gzip member names a wrong size of itself");
  }
  const std::size_t whole = after_last_newline(block);
  if (whole != block.text_size) {
    const std::string dropped = std::to_string(block.text_size - whole) + " bytes of an unfinished line are dropped";
    if (block.problems.empty()) {
      add_problem(block, ProblemKind::kNoNewline, work.member_offset, "the gzip member ends within a line; " + dropped);
    } else {
      block.problems.back().reason += "; " + dropped;
    }
    block.text_size = whole;
  }
  if (block.text_size != 0) std::memset(block.text.get() + block.text_size, ' ', kPadding);
}

}  // namespace dft::read
