// SPDX-License-Identifier: MIT
#include "sources/io/path_filter.h"

#include <fcntl.h>
#include <limits.h>

#include <cstring>

#include "base/buffer.h"
#include "base/raw_io.h"
#include "sources/io/fd_name.h"
#include "sources/io/path_name.h"
#include "sources/io/path_rules.h"

namespace dft::io {

namespace raw = base::raw;

namespace {

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool ends_with(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && std::memcmp(text.end() - with.size(), with.data(), with.size()) == 0;
}

// `x.so`, `x.so.1`, `x.so.1.2.3`: what the dynamic linker maps, not data.
bool is_shared_object(std::string_view path) {
  std::size_t end = path.size();
  while (end != 0 && ((path[end - 1] >= '0' && path[end - 1] <= '9') || path[end - 1] == '.')) --end;
  const std::string_view stem = path.substr(0, end);
  return ends_with(stem, ".so") && (end == path.size() || path[end] == '.') && path.back() != '.';
}

bool has_trace_ending(std::string_view path) {
  switch (path.empty() ? '\0' : path.back()) {
    case 'w': return ends_with(path, ".pfw");
    case 'z': return ends_with(path, ".pfw.gz");
    case 'i': return ends_with(path, ".dfi");
    case 'h': return ends_with(path, ".dfcrash");
    default: return false;
  }
}

bool is_own_trace(const PathRules& rules, std::string_view path) {
  if (!has_trace_ending(path)) return false;
  const std::string_view* prefix = rules.own_traces;
  return starts_with(path, prefix[0]) || (!prefix[1].empty() && starts_with(path, prefix[1]));
}

// Entries gathered from the lists; the rules are built from them in one go.
struct Entry {
  std::uint32_t offset;
  std::uint32_t size;
  Rule rule;
};

class RuleBuilder {
 public:
  // The lists in the order of their weight: a later entry of the same path replaces an earlier one.
  bool add_list(PathList list, Rule rule, bool* names_all);
  void add(std::string_view name, Rule rule);
  void add_own_traces(std::string_view prefix);
  PathRules* build(bool trace_all);

 private:
  void add_spelled_and_real(std::string_view path, Rule rule);
  base::Buffer text_;
  base::Buffer entries_;
  std::size_t components_ = 0;
  std::size_t own_at_[2] = {};
  std::size_t own_size_[2] = {};
};

// The real name of the deepest existing part of an absolute path, with the rest behind it.
bool real_name(std::string_view path, NameWriter& out) {
  char text[kLongestName];
  if (path.size() >= sizeof text) return false;
  for (std::size_t end = path.size(); end > 1;) {
    std::memcpy(text, path.data(), end);
    text[end] = '\0';
    const int fd = raw::open(text, O_PATH | O_CLOEXEC, 0);
    if (fd >= 0) {
      const FdName name = fd_name(fd, text, sizeof text);
      raw::close(fd);
      if (!starts_with(name.text, "/")) return false;
      out.add(name.text);
      out.add(path.substr(end));
      return !out.cut();
    }
    end = path.rfind('/', end - 1);
  }
  return false;
}

void RuleBuilder::add(std::string_view name, Rule rule) {
  const Entry entry{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(name.size()), rule};
  text_.append(name);
  entries_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  for (const char c : name) components_ += c == '/' ? 1 : 0;
}

// An absolute, normalised name made of `path` in `memory`; empty when nobody can tell it.
std::string_view absolute_now(std::string_view path, char (&memory)[kLongestName]) {
  NameWriter name(memory, sizeof memory);
  if (path.front() != '/') {
    char here[PATH_MAX];
    const long size = raw::getcwd(here, sizeof here);
    if (size <= 1 || here[0] != '/') return {};
    name.add({here, static_cast<std::size_t>(size) - 1});
  }
  name.add(path);
  return name.cut() ? std::string_view() : name.view();
}

void RuleBuilder::add_spelled_and_real(std::string_view path, Rule rule) {
  char spelled[kLongestName];
  const std::string_view name = absolute_now(path, spelled);
  if (name.empty()) return;
  add(name, rule);
  char real[kLongestName];
  NameWriter resolved(real, sizeof real);
  if (real_name(name, resolved) && resolved.view() != name) add(resolved.view(), rule);
}

bool RuleBuilder::add_list(PathList list, Rule rule, bool* names_all) {
  for (std::size_t i = 0; i < list.count; ++i) {
    const std::string_view path = list.paths[i];
    if (path.empty()) continue;
    if (names_all != nullptr && path == "all") {
      *names_all = true;
    } else {
      add_spelled_and_real(path, rule);
    }
  }
  return !text_.failed() && !entries_.failed();
}

void RuleBuilder::add_own_traces(std::string_view prefix) {
  if (prefix.empty()) return;
  char spelled[kLongestName];
  const std::string_view name = absolute_now(prefix, spelled);
  own_at_[0] = text_.size();
  own_size_[0] = name.size();
  text_.append(name);
  char real[kLongestName];
  NameWriter resolved(real, sizeof real);
  if (name.empty() || !real_name(name, resolved) || resolved.view() == name) return;
  own_at_[1] = text_.size();
  own_size_[1] = resolved.view().size();
  text_.append(resolved.view());
}

// /dev/shm is a file system for data: it is treated as if /dev had no built-in exclusion.
void release_shm(PathRules& rules, std::string_view path) {
  Rule above = rules.nodes[0].rule;
  const std::uint32_t dev = rules.node_of(path.substr(0, 4));
  if (rules.nodes[dev].rule == Rule::kInclude || rules.nodes[dev].rule == Rule::kExclude) above = rules.nodes[dev].rule;
  RuleNode& shm = rules.nodes[rules.node_of(path)];
  if (shm.rule != Rule::kInherit) return;
  shm.rule = above != Rule::kInherit ? above : rules.trace_all ? Rule::kInclude : Rule::kExclude;
}

PathRules* RuleBuilder::build(bool trace_all) {
  constexpr std::string_view kShm = "/dev/shm";
  const std::size_t shm_at = text_.size();
  text_.append(kShm);
  if (text_.failed() || entries_.failed()) return nullptr;
  PathRules* rules = PathRules::make(components_ + 3, text_.view());
  if (rules == nullptr) return nullptr;
  rules->trace_all = trace_all;
  for (std::size_t at = 0; at < entries_.size(); at += sizeof(Entry)) {
    Entry entry;
    std::memcpy(&entry, entries_.data() + at, sizeof entry);
    rules->nodes[rules->node_of({rules->text + entry.offset, entry.size})].rule = entry.rule;
  }
  release_shm(*rules, {rules->text + shm_at, kShm.size()});
  for (int i = 0; i < 2; ++i) rules->own_traces[i] = {rules->text + own_at_[i], own_size_[i]};
  return rules;
}

}  // namespace

bool PathFilter::configure(PathList includes, PathList excludes, bool trace_all, std::string_view own_traces) {
  RuleBuilder builder;
  for (const std::string_view path : {"/proc", "/sys", "/dev"}) builder.add(path, Rule::kBuiltInExclude);
  if (!builder.add_list(includes, Rule::kInclude, &trace_all)) return false;
  if (!builder.add_list(excludes, Rule::kExclude, nullptr)) return false;
  builder.add_own_traces(own_traces);
  PathRules* rules = builder.build(trace_all);
  if (rules == nullptr) return false;
  rules_.store(rules, std::memory_order_release);  // pairs with the acquire in look()
  return true;
}

FilterVerdict PathFilter::look(std::string_view path) const {
  const PathRules* rules = rules_.load(std::memory_order_acquire);
  if (rules == nullptr) return {false, false};
  std::uint32_t node = 0;
  Rule rule = rules->nodes[0].rule;
  bool whole = !path.empty() && path.front() == '/';  // every component so far is a node
  for (std::size_t at = 1; whole && at < path.size();) {
    const RuleNode& above = rules->nodes[node];
    const PathComponent component = above.has_children ? component_at(path, at) : PathComponent{};
    node = above.has_children ? rules->child(node, component) : 0;
    whole = node != 0;
    if (whole && rules->nodes[node].rule != Rule::kInherit) rule = rules->nodes[node].rule;
    at += component.text.size() + 1;
  }
  const bool wanted = rule == Rule::kInclude || (rule == Rule::kInherit && rules->trace_all);
  if (!wanted) return {false, whole && rules->nodes[node].has_children};
  const bool named_itself = whole && node != 0 && rules->nodes[node].rule == Rule::kInclude;
  const bool left_out = is_own_trace(*rules, path) || (is_shared_object(path) && !named_itself);
  return {!left_out, true};
}

bool PathFilter::traces_everything() const {
  const PathRules* rules = rules_.load(std::memory_order_acquire);
  return rules != nullptr && rules->trace_all;
}

void PathFilter::count_filtered() {
  // Stacks of threads lie far apart, so their addresses tell threads apart well enough to choose a counter.
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  filtered_[((stack >> 12) ^ (stack >> 23)) % kCounters].value.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t PathFilter::filtered() const {
  std::uint64_t sum = 0;
  for (const Counter& counter : filtered_) sum += counter.value.load(std::memory_order_relaxed);
  return sum;
}

void PathFilter::reset_counts() {
  any_traced_.store(false, std::memory_order_relaxed);
  for (Counter& counter : filtered_) counter.value.store(0, std::memory_order_relaxed);
}

}  // namespace dft::io
