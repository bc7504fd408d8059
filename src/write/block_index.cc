// SPDX-License-Identifier: MIT
#include "write/block_index.h"

#include <fcntl.h>

#include <cstring>

#include "base/raw_io.h"
#include "encode/json_writer.h"
#include "model/trace_format.h"

namespace dft::write {
namespace {

// Readers take every *.pfw* of a folder for a trace. A prefix may hold it, as in DFTRACER_LOG_FILE=job.pfw.
void hide_trace_suffix(char* path) {
  char* slash = std::strrchr(path, '/');
  char* at = slash == nullptr ? path : slash;
  while ((at = std::strstr(at, model::kTraceSuffixPlain.data())) != nullptr) *at = '_';
}

}  // namespace

void BlockIndex::add(std::uint64_t offset, std::uint64_t size, std::uint64_t raw_size,
                     const encode::BlockStats& stats) {
  ++members_;
  lines_total_ += stats.lines;
  events_total_ += stats.events;
  encode::JsonWriter json(lines_);
  json.begin_object();
  json.key("offset").number(offset).key("size").number(size).key("raw").number(raw_size);
  json.key("lines").number(stats.lines).key("events").number(stats.events);
  if (stats.events != 0) json.key("ts_min").number(stats.ts_min).key("ts_max").number(stats.ts_max);
  json.key("layers").number(std::uint64_t{stats.layers});
  json.end_object();
  lines_.push('\n');
}

int BlockIndex::write(const FileSink& trace) {
  char path[kMaxPath];
  const std::string_view stem = trace.stem();
  if (stem.size() + model::kIndexSuffix.size() >= sizeof path) return -1;
  std::memcpy(path, stem.data(), stem.size());
  std::memcpy(path + stem.size(), model::kIndexSuffix.data(), model::kIndexSuffix.size() + 1);
  hide_trace_suffix(path);

  const std::string_view whole = trace.path();
  const std::size_t slash = whole.rfind('/');
  base::Buffer text;
  encode::JsonWriter json(text);
  json.begin_object();
  json.key("dfi").number(1);
  json.key("trace").string(slash == std::string_view::npos ? whole : whole.substr(slash + 1));
  json.key("bytes").number(trace.size()).key("members").number(members_);
  json.key("lines").number(lines_total_).key("events").number(events_total_);
  json.end_object();
  text.push('\n');
  text.append(lines_.view());
  if (text.failed() || lines_.failed()) return -1;

  const int fd = base::raw::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return fd;
  const long written = base::raw::write_all(fd, text.data(), text.size(), nullptr);
  base::raw::close(fd);
  if (written < 0) base::raw::unlink(path);  // half an index would lie
  lines_.release();
  members_ = lines_total_ = events_total_ = 0;
  return written < 0 ? static_cast<int>(written) : 0;
}

}  // namespace dft::write
