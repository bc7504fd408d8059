// SPDX-License-Identifier: MIT
// Purpose: CUPTI's activity calls, in the form of its only client or in that of one subscriber among several (13.3
//          and a driver that allows it), which the first form is closed to.
// Threads: one at a time, but for enable(): also from CUPTI's callback at the first context, once the rest is set.
#pragma once

#include <cstdint>

#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/version.h"

namespace dft::gpu::cupti {

// Attributes; the headers of old toolkits lack their names.
enum class Attribute : int {
  kZeroedBuffers = 5,
  kBufferPerThread = 9,
  kAllocationSource = 14,  // of a subscriber among several, as the next
  kGraphTrace = 20,        // graphs are one record each, for all subscribers alike
  kThreadIdType = 21,
};

class Client {
 public:
  static bool can_share(const Functions& functions, Version version);

  void be_alone(const Functions& functions) { *this = Client(&functions, nullptr); }
  // REQUIRES: can_share().
  void be_among_others(const Functions& functions, CUpti_SubscriberHandle subscriber) {
    *this = Client(&functions, subscriber);
  }
  bool shares() const { return subscriber_ != nullptr; }

  CUptiResult register_callbacks() const;
  CUptiResult enable(int kind) const;
  CUptiResult enable_with_what_exists(int kind) const;  // devices, contexts
  CUptiResult disable(int kind) const;
  CUptiResult set_attribute(Attribute attribute, std::uint8_t value) const;
  CUptiResult set_thread_id_type(std::uint32_t type) const;
  CUptiResult record_allocation_source() const;
  CUptiResult dropped_records(std::size_t* count) const;
  // False: this CUPTI cannot, and records them all.
  bool leave_call_out(bool runtime, std::uint32_t id) const;
  // As the decoder wants it. It stays valid until the next be_...().
  Signature_cuptiActivityGetNextRecord walk() const;

  Client() = default;

 private:
  Client(const Functions* functions, CUpti_SubscriberHandle subscriber)
      : functions_(functions), subscriber_(subscriber) {}

  const Functions* functions_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;  // null: alone
};

}  // namespace dft::gpu::cupti
