// SPDX-License-Identifier: MIT
#include "read/scanner.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "read/block_source.h"

namespace dft::read {
namespace {

struct Slot {
  Work work;
  std::size_t file = 0;
  bool gzip = false;
  bool sized_member = false;
  bool done = false;
  std::uint64_t disk_bytes = 0;  // of the files before this one
};

std::uint64_t unit_of(std::string_view metric) {
  for (const auto unit :
       {model::TimeMetric::kNs, model::TimeMetric::kUs, model::TimeMetric::kMs, model::TimeMetric::kSec}) {
    if (metric == model::time_metric_name(unit)) return model::nanoseconds_per_unit(unit);
  }
  return 1000;
}

class Scan {
 public:
  Scan(const std::vector<std::string>& files, const ScanOptions& options, Consumer& consumer)
      : files_(files), options_(options), consumer_(consumer) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    workers_ = options.workers != 0 ? options.workers : std::min(cores, 16u);
    for (unsigned i = 0; i < 2 * workers_ + 2; ++i) {
      slots_.push_back(std::make_unique<Slot>());
      free_.push_back(slots_.back().get());
    }
  }

  bool run() {
    std::vector<std::thread> threads;
    threads.emplace_back([this] { produce(); });
    for (unsigned i = 0; i < workers_; ++i) threads.emplace_back([this] { work(); });
    std::exception_ptr failure;
    try {
      consume();
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    return !stopped_by_consumer_;
  }

 private:
  void produce() {
    std::uint64_t before = 0;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      BlockSource source(files_[file], options_.block_size);
      for (bool last = false; !last;) {
        Slot* slot = take_free();
        if (slot == nullptr) return;
        source.next(slot->work);
        last = slot->work.last;
        slot->file = file;
        slot->gzip = source.is_gzip();
        slot->sized_member = slot->work.member_file != nullptr;
        slot->disk_bytes = before + slot->work.disk_end;
        slot->done = false;
        const std::lock_guard<std::mutex> lock(mutex_);
        order_.push_back(slot);
        todo_.push_back(slot);
        changed_.notify_all();
      }
      before += source.size();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    all_produced_ = true;
    changed_.notify_all();
  }

  Slot* take_free() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !free_.empty(); });
    if (stopping_) return nullptr;
    Slot* slot = free_.front();
    free_.pop_front();
    return slot;
  }

  void work() {
    LineParser parser(options_.parse);
    Inflater inflater;
    std::string scratch;
    for (;;) {
      Slot* slot = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !todo_.empty() || all_produced_; });
        if (stopping_ || todo_.empty()) return;
        slot = todo_.front();
        todo_.pop_front();
      }
      process(*slot, parser, inflater, scratch);
      const std::lock_guard<std::mutex> lock(mutex_);
      slot->done = true;
      changed_.notify_all();
    }
  }

  void process(Slot& slot, LineParser& parser, Inflater& inflater, std::string& scratch) {
    Block& block = slot.work.block;
    block.file = slot.file;
    try {
      if (slot.work.member_file) inflate_member(slot.work, inflater, scratch);
      if (block.text_size != 0) parser.parse(block);
      if (slot.work.member_file && block.problems.empty() && block.lines != slot.work.member.lines) {
        add(block, ProblemKind::kBadMember,
            "the gzip member names " + std::to_string(slot.work.member.lines) + " lines but holds " +
                std::to_string(block.lines));
        block.problems.back().byte = slot.work.member_offset;
      }
      slot.work.member_file.reset();
      consumer_.prepare(block);
    } catch (const std::exception& error) {
      block.events.clear();
      add(block, ProblemKind::kCannotRead, error.what());
    }
  }

  static void add(Block& block, ProblemKind kind, std::string reason) {
    Problem problem;
    problem.kind = kind;
    problem.in_file = true;
    problem.reason = std::move(reason);
    block.problems.push_back(std::move(problem));
  }

  void consume() {
    for (;;) {
      Slot* slot = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return order_.empty() ? all_produced_ : order_.front()->done; });
        if (order_.empty()) return;
        slot = order_.front();
        order_.pop_front();
      }
      const bool go_on = deliver(*slot);
      const std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back(slot);
      changed_.notify_all();
      if (!go_on) {
        stopped_by_consumer_ = true;
        return;
      }
    }
  }

  bool deliver(Slot& slot) {
    Block& block = slot.work.block;
    block.first_line = report_.lines + 1;
    block.first_byte = report_.text_bytes;
    for (Problem& problem : block.problems) {
      if (problem.line != 0) problem.line += report_.lines;
      if (!problem.in_file) problem.byte += report_.text_bytes;
    }
    for (const Event& event : block.events) {
      if (report_.generation == Generation::kUnknown) report_.generation = event.generation;
      if (event.phase == model::Phase::kMetadata && event.name == model::kKeyValue && event.arg_name == "time_metric") {
        report_.unit_ns = unit_of(event.arg_value);
      }
    }
    block.unit_ns = report_.unit_ns;
    block.sized_member = slot.sized_member;
    report_.file = slot.file;
    report_.gzip = slot.gzip;
    report_.lines += block.lines;
    report_.text_bytes += block.text_size;
    report_.events += block.events.size();
    report_.problems += block.problems.size();
    report_.sized_members += slot.sized_member ? 1 : 0;
    const bool go_on = consumer_.block(block);
    if (options_.progress) options_.progress(slot.disk_bytes);
    if (slot.work.last) {
      report_.disk_bytes = slot.work.disk_end;
      if (go_on) consumer_.file_done(report_);
      report_ = FileReport{};
    }
    return go_on;
  }

  const std::vector<std::string>& files_;
  const ScanOptions& options_;
  Consumer& consumer_;
  unsigned workers_ = 1;
  std::vector<std::unique_ptr<Slot>> slots_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot*> free_;
  std::deque<Slot*> order_;  // as in the files
  std::deque<Slot*> todo_;
  bool all_produced_ = false;
  bool stopping_ = false;
  bool stopped_by_consumer_ = false;
  FileReport report_;  // of the file being consumed
};

}  // namespace

bool scan(const std::vector<std::string>& files, const ScanOptions& options, Consumer& consumer) {
  return files.empty() || Scan(files, options, consumer).run();
}

}  // namespace dft::read
