// SPDX-License-Identifier: MIT
#include "session/notes.h"

#include <stdlib.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/raw_io.h"
#include "dftracer/dftracer_config.hpp"
#include "encode/block_compressor.h"
#include "encode/json_writer.h"
#include "model/trace_format.h"
#include "session/gpu.h"
#include "session/session_state.h"
#include "session/utc_date.h"

namespace dft::session {

using encode::JsonWriter;
using model::StringKind;

namespace {

constexpr int kLockTries = 500;
constexpr std::uint64_t kLockPauseNs = 1'000'000;
constexpr std::size_t kPrologueRoom = 16 * 1024;

void set(base::Buffer& buffer, std::string_view text) {
  buffer.clear();
  buffer.append(text);
}

const char* lookup(const char* name) { return getenv(name); }

model::TimeMetric metric_of(const config::Options& options) {
  switch (options.time_metric) {
    case config::TimeMetric::kNs: return model::TimeMetric::kNs;
    case config::TimeMetric::kMs: return model::TimeMetric::kMs;
    case config::TimeMetric::kSec: return model::TimeMetric::kSec;
    case config::TimeMetric::kUs: break;
  }
  return model::TimeMetric::kUs;
}

// Without aggregation and the collectors, their keys say 0: readers of the format expect them to be there.
void append_cfg(const StartFacts& facts, base::Buffer& out) {
  const config::Options& o = facts.options;
  JsonWriter json(out);
  json.key("enable").flag(o.enable).key("metadata").flag(o.metadata).key("core_affinity").flag(false);
  json.key("time_metric").string(model::time_metric_name(metric_of(o)));
  json.key("compression").flag(o.compression).key("trace_all_files").flag(o.data_dirs.empty());
  json.key("tids").flag(o.tids).key("bind_signals").flag(o.bind_signals);
  json.key("write_buffer_size").number(o.write_buffer_size).key("trace_interval_ms").number(o.trace_interval_ms);
  json.key("libuv_thread_count").number(0).key("variorum_power").flag(false);
  json.key("aggregation_enable").flag(false).key("aggregation_type").string("FULL");
  json.key("buffer_limit").number(o.buffer_limit);
  json.key("buffer_mode").string(o.buffer_mode == config::BufferMode::kWait ? "wait" : "drop");
  json.key("flush_interval_ms").number(o.flush_interval_ms).key("crash_safe").flag(o.crash_safe);
}

void append_start_args(const StartFacts& facts, base::Buffer& out) {
  char room[kDateRoom];
  const std::string_view date = utc_date(time(nullptr), room);
  JsonWriter json(out);
  json.key("version").string(DFTRACER_VERSION).key("date").string(date).key("ppid").number(facts.ppid);
  if (facts.process_id != nullptr) json.key("process_id").number(*facts.process_id);
  const bool tsc = base::clock_state.source.load(std::memory_order_relaxed) == base::ClockSource::kTsc;
  json.key("clock").begin_object().key("source").string(tsc ? "tsc" : "monotonic");
  json.key("wall_minus_monotonic_ns").number(base::realtime_minus_monotonic_ns()).end_object();
  json.key("compressor").string(facts.options.compression ? encode::BlockCompressor::name() : "none");
}

void append_build(base::Buffer& out) {
  JsonWriter json(out);
  json.begin_object();
  for (const char* part : {"mpi", "hdf5"}) json.key(part).flag(false);
  json.key("hip").flag(DFTRACER_HAS_HIP_TRACING != 0);
  json.key("cuda").flag(DFTRACER_HAS_CUDA_TRACING != 0);
  for (const char* part : {"finstrument", "variorum"}) json.key(part).flag(false);
  json.end_object();
}

}  // namespace

void Notes::prepare(const StartFacts& facts) {
  pid_ = facts.pid;
  std::snprintf(pid_text_, sizeof pid_text_, "%d", facts.pid);
  set(host_, facts.identity.host);
  set(cwd_, facts.identity.cwd);
  set(command_, facts.identity.command);
  set(exec_name_, facts.identity.exec_name);
  std::memcpy(host_hash_, base::string_hash(facts.identity.host).digits, sizeof host_hash_);
  time_metric_ = model::time_metric_name(metric_of(facts.options));
  for (base::Buffer* buffer : {&start_args_, &cfg_, &build_, &rank_, &rank_args_}) buffer->clear();
  append_start_args(facts, start_args_);
  append_cfg(facts, cfg_);
  append_build(build_);
  set_interception(facts.interception);
  const Rank rank = rank_from_launcher(lookup);
  if (rank.known) {
    set(rank_, rank.value);
    JsonWriter(rank_args_).key("name").string("rank").key("value").string(rank.value).key("source").string(rank.source);
  }
  bool whole = prologue_.reserve(kPrologueRoom) && prologue_cfg_.reserve(kPrologueRoom);
  for (const base::Buffer* buffer :
       {&host_, &cwd_, &command_, &exec_name_, &rank_, &rank_args_, &start_args_, &cfg_, &build_}) {
    whole = whole && !buffer->failed();
  }
  if (!whole) throw std::bad_alloc();  // half a text is no JSON
}

void Notes::set_interception(Interception interception) {
  bound_.store(interception.bound, std::memory_order_relaxed);
  posix_.store(interception.posix, std::memory_order_relaxed);
  stdio_.store(interception.stdio, std::memory_order_relaxed);
}

// Members of `cfg`.
void Notes::append_interception(base::Buffer& out) const {
  const bool posix = posix_.load(std::memory_order_relaxed);
  const bool stdio = stdio_.load(std::memory_order_relaxed);
  JsonWriter json(out);
  json.key("io").flag(posix || stdio).key("posix").flag(posix).key("stdio").flag(stdio);
  json.key("bind").flag(bound_.load(std::memory_order_relaxed));
}

void Notes::prologue(encode::EventEncoder& encoder, std::uint64_t start_ns, base::Buffer& out) {
  encoder.define_string(StringKind::kHost, host_.view(), pid_, out);
  base::Buffer& args = prologue_;
  const auto record = [&](std::string_view name, auto&& fill) {
    args.clear();
    JsonWriter json(args);
    fill(json);
    encoder.metadata(name, pid_, args.view(), out);
  };
  record(model::kThreadName,
         [&](JsonWriter& json) { json.key("name").string(pid_text_).key("value").string("thread_name"); });
  record(model::kKeyValue,
         [&](JsonWriter& json) { json.key("name").string("time_metric").key("value").string(time_metric_); });
  const base::StringHash cwd = encoder.define_string(StringKind::kFile, cwd_.view(), pid_, out);
  const base::StringHash command = encoder.define_string(StringKind::kString, command_.view(), pid_, out);
  const base::StringHash exec = encoder.define_string(StringKind::kString, exec_name_.view(), pid_, out);
  args.clear();
  JsonWriter json(args);
  json.key("cwd").string(cwd.view()).key("exec_hash").string(exec.view()).key("cmd_hash").string(command.view());
  json.raw_members(start_args_.view());
  prologue_cfg_.clear();
  append_interception(prologue_cfg_);
  json.key("cfg").begin_object().raw_members(cfg_.view()).raw_members(prologue_cfg_.view()).end_object();
  json.key("build").raw(build_.view());
  encoder.life_cycle_event("start", pid_, start_ns, args.view(), out);
  if (rank_.empty()) return;
  encoder.metadata(model::kProcessRecord, pid_, rank_args_.view(), out);
  record(model::kProcessName, [&](JsonWriter& name) {
    char text[64];
    std::snprintf(text, sizeof text, "Rank %.*s", static_cast<int>(rank_.size()), rank_.data());
    name.key("name").string(text).key("value").string("process_name");
  });
}

void Notes::append_used(std::uint32_t layers, base::Buffer& out) const {
  JsonWriter json(out);
  json.begin_object();
  for (int layer = 0; layer < model::kLayerCount; ++layer) {
    if ((layers >> layer & 1u) != 0) json.key(model::kLayerNames[layer]).flag(true);
  }
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    bool written = false;
    for (int layer = 0; layer < model::kLayerCount; ++layer) {
      written = written || ((layers >> layer & 1u) != 0 && marks_.key(i) == model::kLayerNames[layer]);
    }
    if (!written) json.escaped_key(marks_.key(i)).flag(true);
  }
  json.end_object();
}

void Notes::append_app(base::Buffer& out) const {
  JsonWriter json(out);
  json.begin_object();
  for (std::size_t i = 0; i < app_.size(); ++i) json.escaped_key(app_.key(i)).raw(app_.text(i));
  json.end_object();
}

// A crashed thread may hold the lock for ever; then marks and metadata are left out rather than read half-made.
bool Notes::lock_in_time() {
  const std::uint32_t never = 0;
  for (int tries = 0; tries < kLockTries; ++tries) {
    if (lock_.try_lock()) return true;
    base::raw::futex_wait(&never, 0, kLockPauseNs);
  }
  base::LogLine() << "the application's metadata is missing in `end`: a thread was stopped while it noted some";
  return false;
}

void Notes::epilogue(encode::EventEncoder& encoder, const write::FileSink& file, const write::Losses& losses,
                     std::uint64_t end_ns, base::Buffer& out) {
  base::Buffer args;
  JsonWriter json(args);
  const std::uint64_t events = encoder.next_id() - 1;
  json.key("num_events").number(events);
  base::Buffer text;
  append_interception(text);
  json.key("cfg").begin_object().raw_members(cfg_.view()).raw_members(text.view());
  text.clear();
  append_gpu_choice(text);
  json.raw_members(text.view());
  json.key("log_file").string(file.path()).end_object().key("build").raw(build_.view());
  text.clear();
  const bool locked = lock_in_time();
  if (locked) append_used(encoder.used_layers(), text);
  json.key("used").raw(locked ? text.view() : "{}");
  text.clear();
  if (locked) append_app(text);
  json.key("app").raw(locked ? text.view() : "{}");
  if (locked) lock_.unlock();
  text.clear();
  losses.append_sums(text);
  base::Buffer gpu_losses;
  append_gpu_losses(gpu_losses);
  json.key("dlopen").number(state.libraries_opened.load(std::memory_order_relaxed));
  const std::string_view sums = text.view();
  json.key("lost").begin_object().raw_members(sums.size() < 2 ? "" : sums.substr(1, sums.size() - 2));
  json.raw_members(gpu_losses.view()).end_object();
  text.clear();
  append_gpu_summary(text);
  json.raw_members(text.view());
  if (!args.failed() && !text.failed() && !gpu_losses.failed()) {
    encoder.life_cycle_event("end", pid_, end_ns, args.view(), out);
  } else {  // no memory for all of it: what readers count by
    char least[48];
    const int size = std::snprintf(least, sizeof least, "\"num_events\":%llu", static_cast<unsigned long long>(events));
    encoder.life_cycle_event("end", pid_, end_ns, {least, static_cast<std::size_t>(size)}, out);
  }
}

// What scratch_ holds: a key of `key_size` bytes, as it will be written (two that are written alike are one), and a
// text.
void Notes::put(KeyedTexts& texts, std::size_t key_size) {
  const std::string_view both = scratch_.view();
  if (!scratch_.failed()) texts.put(both.substr(0, key_size), both.substr(key_size));  // half a text is none
  scratch_.clear();
}

void Notes::mark_used(std::string_view layer) {
  const base::LockGuard guard(lock_);
  encode::append_json_escaped(layer, scratch_);
  put(marks_, scratch_.size());
}

void Notes::set_app(std::string_view key, std::int64_t value) {
  const base::LockGuard guard(lock_);
  encode::append_json_escaped(key, scratch_);
  const std::size_t key_size = scratch_.size();
  encode::append_int(value, scratch_);
  put(app_, key_size);
}

void Notes::set_app(std::string_view key, std::string_view value) {
  const base::LockGuard guard(lock_);
  encode::append_json_escaped(key, scratch_);
  const std::size_t key_size = scratch_.size();
  encode::append_json_string(value, scratch_);
  put(app_, key_size);
}

void Notes::clear() {
  const base::LockGuard guard(lock_);
  marks_.release();
  app_.release();
  scratch_.release();
}

void Notes::reset_after_fork() {
  lock_.reset_after_fork();
  marks_.forget_after_fork();
  app_.forget_after_fork();
  for (base::Buffer* buffer : {&scratch_, &host_, &cwd_, &command_, &exec_name_, &rank_, &rank_args_, &start_args_,
                               &cfg_, &build_, &prologue_, &prologue_cfg_}) {
    buffer->forget();
  }
}

}  // namespace dft::session
