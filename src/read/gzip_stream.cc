// SPDX-License-Identifier: MIT
#include "read/gzip_stream.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace dft::read {
namespace {
constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr std::uint64_t kMostRewound = std::uint64_t{64} << 20;
constexpr std::size_t kLongestHeader = 80 << 10;  // extra field of 64 KiB, a name
}  // namespace

GzipStream::GzipStream(std::shared_ptr<const InputFile> file, std::uint64_t offset)
    : file_(std::move(file)), buffer_(kBuffer), file_at_(offset) {}

bool GzipStream::fill(std::size_t wanted) {
  if (available() >= wanted || at_end_) return available() >= wanted;
  const std::size_t keep = std::min(position_, Inflater::kHistory);
  const std::size_t from = position_ - keep;
  std::memmove(buffer_.data(), buffer_.data() + from, filled_ - from);
  file_at_ += from;
  filled_ -= from;
  position_ = keep;
  const std::ptrdiff_t got = file_->read_at(file_at_ + filled_, buffer_.data() + filled_, buffer_.size() - filled_);
  at_end_ = got < static_cast<std::ptrdiff_t>(buffer_.size() - filled_);
  if (got < 0) {
    read_failed_ = true;
    problem_.reason = std::string(base::error_text(static_cast<int>(-got)));
  } else {
    filled_ += static_cast<std::size_t>(got);
  }
  return available() >= wanted;
}

GzipStream::Status GzipStream::damaged(ProblemKind kind, std::string reason) {
  problem_.kind = read_failed_ ? ProblemKind::kCannotRead : kind;
  if (!read_failed_) problem_.reason = std::move(reason);
  problem_.byte = at();
  problem_.line = 0;
  problem_.in_file = true;
  last_byte_ = '\n';  // the unfinished line is dropped
  searching_ = true;
  place_ = read_failed_ || !fill(1) ? Place::kEnd : Place::kMemberStart;
  return Status::kDamaged;
}

GzipStream::Status GzipStream::read(char* out, std::size_t room, std::size_t& given) {
  char* const begin = out;
  Status status = Status::kMore;
  while (room != 0 && status == Status::kMore) {
    switch (place_) {
      case Place::kEnd: status = Status::kEnd; break;
      case Place::kMemberStart: status = start_member(); break;
      case Place::kData: status = inflate(out, room, begin); break;
      case Place::kTrailer: status = check_trailer(); break;
    }
  }
  given = static_cast<std::size_t>(out - begin);
  return status;
}

// Broken deflate data may have been followed into the members behind it: look for those from the broken one on.
void GzipStream::rewind_to_member() {
  const std::uint64_t back = at() - member_begin_;
  if (read_failed_ || back > kMostRewound - rewound_) return;
  place_ = Place::kMemberStart;
  rewound_ += back;
  file_at_ = member_begin_ + 1;
  position_ = filled_ = 0;
  at_end_ = false;
}

// Three bytes that look like a header turn up in compressed data too; then what follows does not inflate to text.
bool GzipStream::looks_like_text(std::size_t header_size) {
  char text[1024];
  char* out = text;
  std::size_t room = sizeof text;
  const unsigned char* in = buffer_.data() + position_ + header_size;
  std::size_t left = available() - header_size;
  inflater_.reset();
  if (inflater_.run(in, left, out, room) == Inflater::Status::kBroken) return false;
  return std::none_of(text, out, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r'; });
}

// Looks for the next header; false at the end of the file.
bool GzipStream::find_member() {
  MemberHeader header;
  for (;;) {
    if (!fill(10)) return false;
    const unsigned char* const from = buffer_.data() + position_;
    const void* found = memmem(from, available(), "\x1f\x8b\x08", 3);
    if (found == nullptr) {
      position_ = filled_ - 2;
      if (!fill(10)) return false;
      continue;
    }
    position_ += static_cast<std::size_t>(static_cast<const unsigned char*>(found) - from);
    fill(kLongestHeader);
    const HeaderStatus status = read_member_header(buffer_.data() + position_, available(), header);
    if (status == HeaderStatus::kGood && looks_like_text(header.size)) return true;
    ++position_;
  }
}

GzipStream::Status GzipStream::start_member() {
  if (searching_ && !find_member()) {
    place_ = Place::kEnd;
    return Status::kMore;
  }
  if (!fill(1)) {
    place_ = Place::kEnd;
    return read_failed_ ? damaged(ProblemKind::kCannotRead, "") : Status::kMore;
  }
  fill(kLongestHeader);
  MemberHeader header;
  switch (read_member_header(buffer_.data() + position_, available(), header)) {
    case HeaderStatus::kGood: break;
    case HeaderStatus::kShort:
      position_ = filled_;
      return damaged(ProblemKind::kTruncated, "the file ends in a gzip header");
    case HeaderStatus::kBroken: return damaged(ProblemKind::kTrailingBytes, "bytes that are no gzip member");
  }
  const bool hop = header.ours && last_byte_ == '\n' && (started_ || searching_);
  searching_ = false;
  started_ = true;
  if (hop) return Status::kOurs;
  member_begin_ = at();
  told_size_ = header.ours ? header.member_size : 0;
  position_ += header.size;
  inflater_.reset();
  crc_ = size_ = 0;
  place_ = Place::kData;
  return Status::kMore;
}

GzipStream::Status GzipStream::inflate(char*& out, std::size_t& room, const char* begin) {
  fill(1);
  const unsigned char* in = buffer_.data() + position_;
  const std::size_t in_before = available();
  std::size_t in_left = in_before;
  char* const from = out;
  const Inflater::Status status = inflater_.run(in, in_left, out, room);
  position_ = static_cast<std::size_t>(in - buffer_.data());
  const auto given = static_cast<std::size_t>(out - from);
  crc_ = gzip_crc(crc_, from, given);
  size_ += static_cast<std::uint32_t>(given);
  if (out != begin) last_byte_ = out[-1];
  if (status == Inflater::Status::kBroken) {
    const Status result = damaged(ProblemKind::kBadMember, "invalid deflate data");
    rewind_to_member();
    return result;
  }
  if (status == Inflater::Status::kEnd) {
    place_ = Place::kTrailer;
  } else if (given == 0 && in_left == 0 && in_before == 0) {
    const Status result = damaged(ProblemKind::kTruncated, "the file ends inside a gzip member");
    rewind_to_member();
    return result;
  }
  return Status::kMore;
}

GzipStream::Status GzipStream::check_trailer() {
  if (!fill(kTrailerSize)) {
    position_ = filled_;
    return damaged(ProblemKind::kTruncated, "the file ends inside a gzip trailer");
  }
  const MemberTrailer trailer = read_member_trailer(buffer_.data() + position_);
  position_ += kTrailerSize;
  place_ = Place::kMemberStart;
  ++members_;
  if (trailer.crc == crc_ && trailer.size == size_) {
    if (told_size_ == 0 || at() == member_begin_ + told_size_) return Status::kMore;
    return damaged(ProblemKind::kBadMember, "the gzip member names a wrong size of itself");
  }
  const Status status = damaged(ProblemKind::kBadChecksum,
                                "checksum of the gzip member at byte " + std::to_string(member_begin_) + " is wrong");
  if (trailer.size != size_) rewind_to_member();
  return status;
}

}  // namespace dft::read
