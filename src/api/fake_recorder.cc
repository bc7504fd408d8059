// SPDX-License-Identifier: MIT
#include "api/fake_recorder.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <tuple>

#include "api/exports.h"
#include "record/emit.h"
#include "session/gpu.h"
#include "session/session.h"

int dftracer_on = 1;  // C linkage by its declaration in the public header

namespace dft::fake {

State state;

namespace {
using Site = std::tuple<std::string, std::string, model::Layer>;
std::vector<Site> sites;
std::set<record::Region*> open_regions;

record::Region* as_region(Record* open) { return reinterpret_cast<record::Region*>(open); }
Record* as_record(record::Region* region) { return reinterpret_cast<Record*>(region); }

bool ready() {
  if (!state.recording && state.enabled) {
    state.recording = true;
    ++state.generation;
  }
  return state.recording;
}

Record make(model::RecordKind kind, model::SiteId site) {
  const auto& [name, cat, layer] = sites.at(site - 1);
  return {kind, false, name, cat, layer, false, {}};
}

void close(record::Region* region, model::RecordKind kind) {
  if (open_regions.erase(region) == 0) return;
  as_record(region)->kind = kind;
  state.records.push_back(*as_record(region));
  delete as_record(region);
}

void add(record::Region* region, std::string_view key, std::string value) {
  if (open_regions.count(region) == 0) return;
  auto& args = as_record(region)->args;
  for (auto& [old_key, old_value] : args) {
    if (old_key == key && value.rfind("relation:", 0) != 0) {
      old_value = std::move(value);
      return;
    }
  }
  args.emplace_back(key, std::move(value));
}

std::string text_of(const model::ArgView& arg) {
  if (arg.type == model::ArgType::kString) return '"' + std::string(arg.value, arg.value_len) + '"';
  return std::to_string(static_cast<std::int64_t>(arg.bits()));
}

void emit(model::RecordKind kind, bool instant, model::SiteId site, const record::Args& args) {
  if (!ready()) return;
  Record made = make(kind, site);
  made.instant = instant;
  model::ArgCursor cursor(args.data, args.size);
  for (model::ArgView arg; cursor.next(arg);) made.args.emplace_back(std::string(arg.key, arg.key_len), text_of(arg));
  state.records.push_back(made);
}
}  // namespace

std::string Record::arg(const std::string& key) const {
  for (const auto& [k, v] : args) {
    if (k == key) return v;
  }
  return {};
}

void reset() {
  for (record::Region* region : open_regions) delete as_record(region);
  open_regions.clear();
  const std::uint64_t generation = state.generation;  // never goes back, as in the product
  state = State{};
  state.generation = generation;
  dftracer_on = 1;
}

std::vector<Record> named(const std::string& name) {
  std::vector<Record> found;
  for (const Record& r : state.records) {
    if (r.name == name) found.push_back(r);
  }
  return found;
}

}  // namespace dft::fake

namespace dft::record {
using fake::add;

model::SiteId site_id(std::string_view name, std::string_view cat, model::Layer layer) {
  ++fake::state.site_lookups;
  const fake::Site wanted{name, cat, layer};
  for (std::size_t i = 0; i < fake::sites.size(); ++i) {
    if (fake::sites[i] == wanted) return static_cast<model::SiteId>(i + 1);
  }
  fake::sites.push_back(wanted);
  return static_cast<model::SiteId>(fake::sites.size());
}

Region* open_region(model::SiteId site, bool metadata_event) {
  if (!fake::ready()) return nullptr;
  auto* open = new fake::Record(fake::make(model::RecordKind::kEvent, site));
  open->metadata_event = metadata_event;
  fake::open_regions.insert(fake::as_region(open));
  return fake::as_region(open);
}

void close_region(Region* region) { fake::close(region, model::RecordKind::kEvent); }
void close_as_metadata(Region* region) { fake::close(region, model::RecordKind::kMetadata); }
void close_as_instant(Region* region) {
  if (fake::open_regions.count(region) != 0) fake::as_record(region)->instant = true;
  fake::close(region, model::RecordKind::kEvent);
}
void close_region_at(Region* region, std::uint64_t begin_ns, std::uint64_t end_ns) {
  add(region, "at", std::to_string(begin_ns) + ".." + std::to_string(end_ns));
  fake::close(region, model::RecordKind::kEvent);
}
void drop_region(Region* region) {
  if (fake::open_regions.erase(region) != 0) delete fake::as_record(region);
}
bool is_open(const Region* region) { return fake::open_regions.count(const_cast<Region*>(region)) != 0; }

void add_int64(Region* r, std::string_view key, std::int64_t value) { add(r, key, std::to_string(value)); }
void add_uint64(Region* r, std::string_view key, std::uint64_t value) { add(r, key, std::to_string(value)); }
void add_double(Region* r, std::string_view key, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  add(r, key, text);
}
void add_bool(Region* r, std::string_view key, bool value) { add(r, key, value ? "true" : "false"); }
void add_word(Region* r, model::ShortField field, std::uint64_t bits) {
  double real;
  std::memcpy(&real, &bits, sizeof real);
  switch (field.type()) {
    case model::ArgType::kInt64: return add_int64(r, field.key(), static_cast<std::int64_t>(bits));
    case model::ArgType::kUint64: return add_uint64(r, field.key(), bits);
    case model::ArgType::kDouble: return add_double(r, field.key(), real);
    default: return add_bool(r, field.key(), bits != 0);
  }
}
void add_string(Region* r, std::string_view key, std::string_view value) {
  add(r, key, '"' + std::string(value) + '"');
}
void add_text(Region* r, model::ShortField field, const char* text, std::size_t length) {
  add_string(r, field.key(), {text, length});
}
void add_relation(Region* r, std::string_view relation, std::uint64_t entity) {
  char text[64];
  std::snprintf(text, sizeof text, "relation:%016" PRIx64, entity);
  add(r, relation, text);
}

void emit_instant(model::SiteId site, const Args& args) { fake::emit(model::RecordKind::kEvent, true, site, args); }
void emit_metadata(model::SiteId site, const Args& args, std::uint32_t) {
  fake::emit(model::RecordKind::kMetadata, false, site, args);
}
bool recording() { return fake::state.recording; }

}  // namespace dft::record

namespace dft::session {

namespace {
// What a real session may do to its caller before the boundary shields it.
void misbehave() {
  errno = EBADF;
  if (fake::state.throw_in_session) throw std::bad_alloc();
}
std::string text_or_null(const char* text) { return text != nullptr ? text : "(null)"; }
}  // namespace

bool start(const StartRequest& request) {
  fake::state.calls.push_back("start " + text_or_null(request.log_file) + " " + text_or_null(request.data_dirs) + " " +
                              (request.process_id != nullptr ? std::to_string(*request.process_id) : "(null)") +
                              (request.bind ? " bind" : ""));
  misbehave();
  return fake::ready();
}

void finish_from_api() {
  fake::state.calls.emplace_back("finish");
  fake::state.recording = false;
  misbehave();
}

void serve_request() noexcept {
  fake::state.calls.emplace_back("serve");
  dftracer_on = 1;
  errno = EPIPE;
}

void mark_used(std::string_view layer) {
  fake::state.calls.push_back("used " + std::string(layer));
  misbehave();
}
void set_app_metadata(std::string_view key, std::int64_t value) {
  fake::state.calls.push_back("app " + std::string(key) + " " + std::to_string(value));
  misbehave();
}
void set_app_metadata(std::string_view key, std::string_view value) {
  fake::state.calls.push_back("app " + std::string(key) + " \"" + std::string(value) + '"');
  misbehave();
}
std::uint64_t file_generation() { return fake::state.generation; }
void note_worker() {
  fake::state.calls.emplace_back("worker");
  misbehave();
}
bool gpu_profiler_begins(const char* name) {
  fake::state.calls.push_back("profiler " + text_or_null(name));
  misbehave();
  return false;
}
void gpu_profiler_ends() {
  fake::state.calls.emplace_back("profiler ends");
  misbehave();
}
std::size_t nvtx_library_to_set(char* out, std::size_t size) {
  if (size > 2) std::memcpy(out, "/l", 3);
  misbehave();
  return 2;
}
std::uint64_t trace_time() {
  misbehave();
  return 1'700'000'000'000'000;
}
std::uint64_t unit_ns() { return 1000; }
std::size_t configured_value(std::string_view variable, char* out, std::size_t room) {
  const std::string_view value = variable == "DFTRACER_TIME_METRIC" ? "US" : "";
  const std::size_t copied = value.size() < room ? value.size() : room;
  if (copied != 0) std::memcpy(out, value.data(), copied);
  misbehave();
  return value.size();
}

}  // namespace dft::session
