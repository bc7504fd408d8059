// SPDX-License-Identifier: MIT
#include "config/yaml_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <yaml.h>

#include <cstddef>

#include "base/log.h"
#include "base/raw_io.h"

namespace dft::config {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostEntries = 10'000;

std::string at_line(const yaml_mark_t& mark, std::string_view what) {
  return "line " + std::to_string(mark.line + 1) + ": " + std::string(what);
}

// Follows the events of one document. A value is a scalar or a sequence of scalars behind a chain of mapping keys; any
// other structure behind a key makes one unreadable value.
class Walker {
 public:
  explicit Walker(YamlFile* file) : file_(file) {}

  // False: stop, because the document is complete or `file->error` says why not.
  bool take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_ALIAS_EVENT: return alias(event);
      case YAML_MAPPING_START_EVENT: return open(event, true);
      case YAML_SEQUENCE_START_EVENT: return open(event, false);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT: close(); return true;
      case YAML_DOCUMENT_END_EVENT:
      case YAML_STREAM_END_EVENT: return false;
      default: return true;
    }
  }

 private:
  struct Frame {
    std::size_t prefix;  // length of key_ outside this mapping
    bool waits_for_value;
  };

  bool fail(const yaml_event_t& event, std::string_view what) {
    file_->error = at_line(event.start_mark, what);
    return false;
  }

  bool scalar(const yaml_event_t& event) {
    const std::string_view text(reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length);
    if (skipped_ > 0) return true;
    if (in_sequence_) {
      file_->entries.back().value.items.emplace_back(text);
      return true;
    }
    if (frames_.empty()) {
      if (is_null(event, text)) return true;  // `~` or nothing: an empty file
      return fail(event, "a mapping of keys to values is expected");
    }
    if (!frames_.back().waits_for_value) return key(event, text);
    return value(event, RawValue{std::string(text), {}, false, true}, is_null(event, text));
  }

  static bool is_null(const yaml_event_t& event, std::string_view text) {
    return event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
  }

  bool key(const yaml_event_t& event, std::string_view text) {
    if (text.size() > 200) return fail(event, "a key is longer than 200 bytes");
    if (!key_.empty()) key_ += '.';
    key_ += text;
    frames_.back().waits_for_value = true;
    return true;
  }

  bool value(const yaml_event_t& event, RawValue raw, bool null) {
    if (file_->entries.size() >= kMostEntries) return fail(event, "more keys than any configuration has");
    file_->entries.push_back({key_, std::move(raw), null, static_cast<unsigned long>(event.start_mark.line + 1)});
    finish_value();
    return true;
  }

  // Ends the value behind the innermost key: what follows is a key of the same mapping.
  void finish_value() {
    if (frames_.empty()) return;
    frames_.back().waits_for_value = false;
    key_.resize(frames_.back().prefix);
  }

  bool alias(const yaml_event_t& event) {
    if (skipped_ > 0) return true;
    if (in_sequence_) {
      file_->entries.back().value.readable = false;
      return true;
    }
    if (frames_.empty() || !frames_.back().waits_for_value) return fail(event, "an alias cannot be a key");
    const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
    return value(event, RawValue{"*" + name, {}, false, false}, false);
  }

  bool open(const yaml_event_t& event, bool mapping) {
    if (skipped_ > 0 || in_sequence_) {
      if (skipped_ == 0) file_->entries.back().value.readable = false;
      return ++skipped_ <= kDeepest || fail(event, "nested too deeply");
    }
    if (!frames_.empty() && !frames_.back().waits_for_value) return fail(event, "a key must be plain text");
    if (mapping) {
      if (frames_.size() >= kDeepest) return fail(event, "nested too deeply");
      frames_.push_back({key_.size(), false});
      return true;
    }
    if (frames_.empty()) return fail(event, "a mapping of keys to values is expected");
    in_sequence_ = value(event, RawValue{{}, {}, true, true}, false);
    return in_sequence_;
  }

  void close() {
    if (skipped_ > 0) {
      --skipped_;
    } else if (in_sequence_) {
      in_sequence_ = false;
    } else {
      frames_.pop_back();
      finish_value();
    }
  }

  YamlFile* file_;
  std::vector<Frame> frames_;  // open mappings
  std::string key_;
  bool in_sequence_ = false;
  std::size_t skipped_ = 0;  // depth of structures inside a sequence, which no option has
};

struct Event {
  Event() = default;
  ~Event() { yaml_event_delete(&get); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  yaml_event_t get{};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : ready_(yaml_parser_initialize(&parser_) != 0) {
    if (text.empty()) text = "";  // libyaml ends the process when handed a null pointer
    if (ready_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
  }
  ~Parser() {
    if (ready_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  bool next(yaml_event_t* event) { return ready_ && yaml_parser_parse(&parser_, event) != 0; }
  std::string problem() const {
    if (!ready_ || parser_.problem == nullptr) return "out of memory";
    return at_line(parser_.problem_mark, parser_.problem);
  }

 private:
  yaml_parser_t parser_;
  bool ready_;
};

// The descriptor is closed before the text is parsed.
std::string read_whole(const char* path, std::string* error) {
  std::string text;
  const int fd = base::raw::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) {
    *error = base::error_text(-fd);
    return text;
  }
  struct ::stat info {};
  const int status = base::raw::fstat(fd, &info);
  if (status < 0 || !S_ISREG(info.st_mode)) {
    *error = "not a regular file";
  } else if (info.st_size > static_cast<off_t>(kLargestFile)) {
    *error = "larger than 1 MiB";
  } else {
    text.resize(static_cast<std::size_t>(info.st_size));
    std::size_t done = 0;
    while (done < text.size()) {
      const long got = base::raw::read(fd, text.data() + done, text.size() - done);
      if (got == -EINTR) continue;
      if (got < 0) *error = base::error_text(static_cast<int>(-got));
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    text.resize(done);
  }
  base::raw::close(fd);
  return text;
}

}  // namespace

YamlFile parse_yaml(std::string_view text) {
  YamlFile file;
  Parser parser(text);
  Walker walker(&file);
  bool more = true;
  while (more) {
    Event event;
    if (parser.next(&event.get)) {
      more = walker.take(event.get);
    } else {
      file.error = parser.problem();
      more = false;
    }
  }
  if (!file.error.empty()) file.entries.clear();
  return file;
}

YamlFile read_yaml(const char* path) {
  YamlFile file;
  const std::string text = read_whole(path, &file.error);
  return file.error.empty() ? parse_yaml(text) : file;
}

}  // namespace dft::config
