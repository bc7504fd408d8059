// SPDX-License-Identifier: MIT
// The parts of call.h that are no templates: schemas, the event itself, and the real functions.
#include "sources/io/call.h"

#include "base/futex_lock.h"
#include "intercept/real_function.h"
#include "record/entry.h"
#include "sources/io/posix.gen.h"

namespace dft::io {

using model::ArgType;
using model::StringId;
using record::ArgField;

namespace {

// What a function that this libc does not have gives.
long missing_number() {
  errno = ENOSYS;
  return -1;
}
void* missing_pointer() {
  errno = ENOSYS;
  return nullptr;
}

constexpr std::size_t kMostFields = 16;

bool is_there(When when, Outcome outcome) {
  return when == When::kAlways || outcome == Outcome::kOk || (when == When::kReadable && outcome == Outcome::kFailed);
}

model::SchemaId make_schema(const Function& function, Outcome outcome, bool has_file) {
  ArgField fields[kMostFields];
  std::size_t count = 0;
  if (has_file) fields[count++] = {ArgType::kHash, "fhash"};
  for (unsigned i = 0; i < function.arg_count; ++i) {
    const Arg& arg = function.args[i];
    if (is_there(arg.when, outcome)) fields[count++] = {arg.type, arg.key};
  }
  if ((function.flags & kHasRet) != 0) fields[count++] = {ArgType::kInt64, "ret"};
  if (outcome != Outcome::kOk) fields[count++] = {ArgType::kInt64, "errno"};
  if (!function.symbol.empty()) fields[count++] = {ArgType::kString, "symbol"};
  if (count == 0) return model::kSelfDescribing;
  return record::schema_id(fields, count);
}

// The record's args: none when they are off; hhash only when the function has none, or without memory for a schema.
record::Args args_of(model::SchemaId schema, const Values& values) {
  record::Args none;
  if (!io_args.load(std::memory_order_relaxed)) return none;
  none.schema = model::kSelfDescribing;
  return schema != model::kSelfDescribing ? record::Args(schema, values) : none;
}

std::atomic<model::SchemaId>& schema_of(Function& function, Outcome outcome, bool has_file) {
  return function.schemas[2 * static_cast<unsigned>(outcome) + (has_file ? 1 : 0)];
}

// The first event of this function, of this thread or of this process: what that takes may call libc's I/O.
[[gnu::noinline, gnu::cold]] void emit_slowly(Function& function, const Ended& ended, bool has_file,
                                              const Values& values) {
  const base::SignalGuard signals;  // longer than the pause: a handler has calls of its own, or leaves by siglongjmp
  ++io_paused;
  std::atomic<model::SchemaId>& schema = schema_of(function, ended.outcome, has_file);
  if (function.site.load(std::memory_order_relaxed) == 0) {
    const bool stdio = function.category == Category::kStdio;
    function.site.store(record::site_id(function.operation, stdio ? "STDIO" : "POSIX", model::Layer::kLibcIo),
                        std::memory_order_relaxed);
  }
  if (schema.load(std::memory_order_relaxed) == 0) {
    schema.store(make_schema(function, ended.outcome, has_file), std::memory_order_relaxed);
  }
  base::Ticks begin = ended.begin;
  base::Ticks end = ended.end;
  if (ended.early) {
    const auto to_trace = static_cast<std::uint64_t>(base::realtime_minus_monotonic_ns());
    begin += to_trace;
    end += to_trace;
  }
  record::emit_event(function.site.load(std::memory_order_relaxed), begin, end,
                     args_of(schema.load(std::memory_order_relaxed), values),
                     ended.early ? model::kFlagNanoseconds : 0);
  --io_paused;
}

}  // namespace

void* find_real(Function& function) {
  void* address = intercept::next_definition(function.name);
  if (address == nullptr) {
    address = (function.flags & kReturnsPointer) != 0 ? reinterpret_cast<void*>(&missing_pointer)
                                                      : reinterpret_cast<void*>(&missing_number);
  }
  function.real.store(address, std::memory_order_relaxed);
  return address;
}

void emit_call(Function& function, const Ended& ended, bool has_file, std::uint64_t ret, Values& values) {
  if ((function.flags & kHasRet) != 0) values.add(ret);
  if (ended.outcome != Outcome::kOk) {
    values.add((function.flags & kReturnsCode) != 0 ? ret : static_cast<std::uint64_t>(ended.error));
  }
  if (!function.symbol.empty()) values.add_string(function.symbol);
  const model::SiteId site = function.site.load(std::memory_order_relaxed);
  const model::SchemaId schema = schema_of(function, ended.outcome, has_file).load(std::memory_order_relaxed);
  const bool known = site != 0 && schema != 0 && record::this_thread != nullptr && recorder_is_ready();
  if (__builtin_expect(!known || ended.early, 0)) return emit_slowly(function, ended, has_file, values);
  const record::Args args = args_of(schema, values);
  const auto size = static_cast<std::uint32_t>(sizeof(model::RecordHeader) + args.size);
  const model::RecordHeader header{size, model::RecordKind::kEvent, 0, args.schema, site, 0, ended.begin, ended.end};
  if (__builtin_expect(!record::try_emit(header, args.data), 0)) {
    record::emit_event(site, ended.begin, ended.end, args);  // not paused: a new chunk lets waiting signals in
  }
}

FdEntry memory_stream() {
  static constexpr std::string_view kName = "stdio:[memory]";
  if (!path_filter.traces_everything()) return {0, FdKind::kOther, false};
  return {record::string_id(model::StringKind::kFile, kName), FdKind::kOther, true};
}

int descriptor_of(DIR* dir) { return dir != nullptr ? real<int(DIR*)>(fn_dirfd)(dir) : -1; }

PathTarget target_of(int dir_fd, const char* path, Outcome outcome) {
  const char* text = seen(outcome, path);
  return text != nullptr ? path_resolver.target(dir_fd, text) : PathTarget{0, false};
}

StringId path_id(int dir_fd, const char* path) { return path_resolver.name_id(dir_fd, path_text(path)); }

StringId text_id(const char* name) {
  return record::string_id(model::StringKind::kFile, name != nullptr ? std::string_view(name) : std::string_view());
}

}  // namespace dft::io
