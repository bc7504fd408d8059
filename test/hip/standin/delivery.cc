// SPDX-License-Identifier: MIT
// Buffers and the threads that hand them over.
#include <algorithm>
#include <cstdlib>

#include "state.h"

namespace standin {

void Worker::start() {
  owner_ = getpid();
  const State& s = state();
  if (s.before_thread != nullptr) s.before_thread(1, nullptr);
  thread_ = std::thread([this] { run(); });
  if (s.after_thread != nullptr) s.after_thread(1, nullptr);
}

void Worker::run() {
  std::unique_lock<std::mutex> guard(lock_);
  while (true) {
    changed_.wait(guard, [this] { return !batches_.empty() || ending_; });
    if (batches_.empty()) return;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    busy_ = true;
    guard.unlock();
    Buffer::hand_over(batch);
    guard.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Worker::post(Batch batch) {
  if (owner_ != getpid()) {  // the real one has new threads in a forked child
    Buffer::hand_over(batch);
    return;
  }
  const std::lock_guard<std::mutex> guard(lock_);
  batches_.push_back(std::move(batch));
  changed_.notify_all();
}

void Worker::wait() {
  if (owner_ != getpid()) return;
  std::unique_lock<std::mutex> guard(lock_);
  changed_.wait(guard, [this] { return batches_.empty() && !busy_; });
}

void Worker::end() {
  if (owner_ != getpid()) return;
  {
    const std::lock_guard<std::mutex> guard(lock_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  owner_ = -1;  // what is posted now goes the direct way
}

void Buffer::add(std::uint32_t kind, const void* record, std::size_t length) {
  const std::size_t room = (length + 7) / 8 * 8;
  std::unique_lock<std::mutex> guard(lock_);
  if (!bytes_.empty() && bytes_.size() + room > size) worker->post(take());  // lossless: the other half is used
  records_.emplace_back(kind, bytes_.size());
  const auto* from = static_cast<const unsigned char*>(record);
  bytes_.insert(bytes_.end(), from, from + length);
  bytes_.resize((bytes_.size() + 7) / 8 * 8, 0);
  if (!state().scenario.no_flush && bytes_.size() >= watermark) worker->post(take());
}

void Buffer::add_drops(std::uint64_t count) {
  const std::lock_guard<std::mutex> guard(lock_);
  drops_ += count;
}

Worker::Batch Buffer::take() {
  Worker::Batch batch{this, std::move(bytes_), std::move(records_), drops_};
  bytes_.clear();
  records_.clear();
  return batch;
}

void Buffer::flush(bool wait) {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    if (!records_.empty()) worker->post(take());
  }
  if (wait) worker->wait();
}

void Buffer::hand_over(Worker::Batch& batch) {
  std::vector<RecordHeader> headers;
  for (const auto& [kind, at] : batch.records) headers.push_back({1, kind, &batch.bytes[at]});
  std::vector<RecordHeader*> pointers;
  for (RecordHeader& header : headers) pointers.push_back(&header);
  if (state().scenario.shuffle) std::reverse(pointers.begin(), pointers.end());
  const Buffer& buffer = *batch.buffer;
  buffer.callback(buffer.context, buffer.id, pointers.data(), pointers.size(), buffer.data, batch.drops);
  state().delivered.fetch_add(pointers.size(), std::memory_order_relaxed);
  // The real one uses the memory again: nobody may read it later.
  std::memset(batch.bytes.data(), 0xa5, batch.bytes.size());
  for (RecordHeader& header : headers) header = {0xa5a5a5a5u, 0xa5a5a5a5u, nullptr};
}

}  // namespace standin
