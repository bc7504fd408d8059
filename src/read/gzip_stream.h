// SPDX-License-Identifier: MIT
// Purpose: a gzip file of any number of members, read from front to end by one thread; damage is stepped over.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "read/event.h"
#include "read/gzip_format.h"
#include "read/inflater.h"
#include "read/input_file.h"

namespace dft::read {

class GzipStream {
 public:
  GzipStream(std::shared_ptr<const InputFile> file, std::uint64_t offset);

  enum class Status {
    kMore,     // output is full
    kOurs,     // the next member carries its size (at()), and the text so far ends with a newline
    kDamaged,  // text so far may end within a line; problem() says what happened; reading goes on at the next member
    kEnd,
  };
  // Appends up to `room` bytes at `out`; `given` tells how many.
  Status read(char* out, std::size_t room, std::size_t& given);

  const Problem& problem() const { return problem_; }
  std::uint64_t at() const { return file_at_ + position_; }  // file offset of the next unread byte
  std::uint64_t members() const { return members_; }

 private:
  enum class Place { kMemberStart, kData, kTrailer, kEnd };
  std::size_t available() const { return filled_ - position_; }
  bool fill(std::size_t wanted);  // false: fewer than `wanted` bytes are left in the file
  Status start_member();
  bool find_member();
  bool looks_like_text(std::size_t header_size);
  void rewind_to_member();
  Status inflate(char*& out, std::size_t& room, const char* begin);
  Status check_trailer();
  Status damaged(ProblemKind kind, std::string reason);

  std::shared_ptr<const InputFile> file_;
  std::vector<unsigned char> buffer_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t file_at_;  // file offset of buffer_[0]
  bool read_failed_ = false;
  bool at_end_ = false;  // nothing is left to fill the buffer with
  Place place_ = Place::kMemberStart;
  bool searching_ = false;  // damage was reported; look for the next member
  Inflater inflater_;
  std::uint32_t crc_ = 0;
  std::uint32_t size_ = 0;
  std::uint64_t members_ = 0;
  std::uint64_t member_begin_ = 0;
  std::uint64_t told_size_ = 0;  // of the member, in our subfield
  std::uint64_t rewound_ = 0;    // bytes read twice so far; bounded, so that no file makes reading quadratic
  char last_byte_ = '\n';
  bool started_ = false;  // a member was read since the stream began
  Problem problem_;
};

}  // namespace dft::read
