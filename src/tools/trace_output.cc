// SPDX-License-Identifier: MIT
#include "tools/trace_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/log.h"
#include "base/raw_io.h"
#include "encode/gzip_member.h"

namespace dft::tools {
namespace {
constexpr std::size_t kBlock = std::size_t{1} << 20;
}

TraceOutput::TraceOutput(std::string path, Form form)
    : path_(std::move(path)), temporary_(path_ + ".recovering"), form_(form) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd_ < 0) fail("create", errno);
}

TraceOutput::~TraceOutput() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

bool TraceOutput::fail(const char* what, int error) {
  if (error_.empty())
    error_ = std::string("cannot ") + what + " " + temporary_ + ": " + std::string(base::error_text(error));
  return false;
}

bool TraceOutput::put(std::string_view bytes) {
  std::size_t done = 0;
  const long result = base::raw::write_all(fd_, bytes.data(), bytes.size(), &done);
  return result >= 0 || fail("write", static_cast<int>(-result));
}

bool TraceOutput::put_member(std::string_view member) {
  if (form_ == Form::kSizedGzip) return put(member);
  constexpr std::size_t kPlainHeader = 10;
  char header[kPlainHeader];
  std::memcpy(header, member.data(), kPlainHeader);
  header[3] = 0;  // flags: nothing follows the header
  return put({header, kPlainHeader}) && put(member.substr(encode::kMemberHeaderSize));
}

bool TraceOutput::copy(const std::string& from, std::uint64_t bytes) {
  if (!error_.empty()) return false;
  const int fd = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("read the trace for", errno);
  std::string piece(kBlock, '\0');
  bool good = true;
  while (good && bytes != 0) {
    const ssize_t got = ::read(fd, piece.data(), std::min<std::uint64_t>(piece.size(), bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      good = fail("read the trace for", got < 0 ? errno : EIO);
      break;
    }
    bytes -= static_cast<std::uint64_t>(got);
    good = put({piece.data(), static_cast<std::size_t>(got)});
  }
  ::close(fd);
  return good;
}

bool TraceOutput::lines(std::string_view text) {
  if (!error_.empty()) return false;
  block_.append(text);
  if (block_.failed()) return fail("gather", ENOMEM);
  return block_.size() < kBlock || write_block();
}

bool TraceOutput::write_block() {
  if (block_.empty()) return true;
  bool good = true;
  if (form_ != Form::kPlain) {
    packed_.clear();
    const auto count = std::count(block_.data(), block_.data() + block_.size(), '\n');
    good = compressor_.compress(block_.view(), static_cast<std::uint32_t>(count), packed_) || fail("compress", ENOMEM);
    good = good && put_member(packed_.view());
  } else {
    good = put(block_.view());
  }
  block_.clear();
  return good;
}

bool TraceOutput::finish() {
  if (!error_.empty() || !write_block()) return false;
  if (::fsync(fd_) != 0) return fail("sync", errno);
  ::close(fd_);
  fd_ = -1;
  if (std::rename(temporary_.c_str(), path_.c_str()) == 0) return true;
  const int error = errno;
  ::unlink(temporary_.c_str());
  return fail("rename", error);
}

}  // namespace dft::tools
