// SPDX-License-Identifier: MIT
// Purpose: raw deflate data -> bytes, and the checksum of gzip members. One of inflate_isal.cc and inflate_zlib.cc is
//          compiled.
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dft::read {

class Inflater {
 public:
  enum class Status { kMore, kEnd, kBroken };

  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void reset();  // before each member
  // Takes input and gives output until one of them is used up or the deflate stream ends; advances both. At the end
  // `in` points right behind the stream; that may be up to 8 bytes before what it was given, when a bit buffer had
  // taken them in an earlier call. REQUIRES: input of earlier calls lies directly before `in` for kHistory bytes.
  Status run(const unsigned char*& in, std::size_t& in_size, char*& out, std::size_t& out_size);

  static constexpr std::size_t kHistory = 8;
  static const char* name();  // "isal" or "zlib"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::uint32_t gzip_crc(std::uint32_t crc, const char* data, std::size_t size);

}  // namespace dft::read
