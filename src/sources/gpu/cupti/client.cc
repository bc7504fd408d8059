// SPDX-License-Identifier: MIT
#include "sources/gpu/cupti/client.h"

#include "sources/gpu/cupti/capture.h"

namespace dft::gpu::cupti {

namespace {

// CUPTI's walk has no place for a pointer of ours. Written before the thread that walks is made.
Signature_cuptiActivityGetNextRecord_v2 next_of_subscriber = nullptr;
CUpti_SubscriberHandle walking = nullptr;

CUptiResult walk_of_subscriber(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  return next_of_subscriber(walking, buffer, valid, record);
}

void request_of_subscriber(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*) {
  request_buffer(buffer, size, max_records);
}
void completed_of_subscriber(std::uint8_t* buffer, std::size_t size, std::size_t valid, void*) {
  buffer_completed(nullptr, 0, buffer, size, valid);
}

CUpti_ActivityKind kind_of(int kind) { return static_cast<CUpti_ActivityKind>(kind); }

}  // namespace

bool Client::can_share(const Functions& f, Version version) {
  return version.may_share() && f.subscribe_v2 != nullptr && f.register_callbacks_v2 != nullptr &&
         f.enable_v2 != nullptr && f.disable_v2 != nullptr && f.set_attribute_v2 != nullptr &&
         f.next_record_v2 != nullptr && f.dropped_records_v2 != nullptr;
}

CUptiResult Client::register_callbacks() const {
  if (!shares()) return functions_->register_callbacks(&request_buffer, &buffer_completed);
  return functions_->register_callbacks_v2(subscriber_, reinterpret_cast<void*>(&request_of_subscriber),
                                           reinterpret_cast<void*>(&completed_of_subscriber));
}

CUptiResult Client::enable(int kind) const {
  return shares() ? functions_->enable_v2(subscriber_, kind_of(kind), nullptr) : functions_->enable(kind_of(kind));
}

CUptiResult Client::enable_with_what_exists(int kind) const {
  if (shares()) {
    const auto dump = functions_->enable_and_dump_v2;
    return dump != nullptr ? dump(subscriber_, kind_of(kind), nullptr) : CUPTI_ERROR_NOT_SUPPORTED;
  }
  const auto dump = functions_->enable_and_dump;
  return dump != nullptr ? dump(kind_of(kind)) : CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult Client::disable(int kind) const {
  return shares() ? functions_->disable_v2(subscriber_, kind_of(kind), nullptr) : functions_->disable(kind_of(kind));
}

CUptiResult Client::set_attribute(Attribute attribute, std::uint8_t value) const {
  std::size_t size = sizeof value;
  const auto which = static_cast<CUpti_ActivityAttribute>(attribute);
  return shares() ? functions_->set_attribute_v2(subscriber_, which, &size, &value)
                  : functions_->set_attribute(which, &size, &value);
}

CUptiResult Client::set_thread_id_type(std::uint32_t type) const {
  if (!shares()) return functions_->set_thread_id_type(static_cast<CUpti_ActivityThreadIdType>(type));
  std::size_t size = sizeof type;
  return functions_->set_attribute_v2(subscriber_, static_cast<CUpti_ActivityAttribute>(Attribute::kThreadIdType),
                                      &size, &type);
}

CUptiResult Client::record_allocation_source() const {
  if (shares()) return set_attribute(Attribute::kAllocationSource, 1);
  const auto set = functions_->enable_allocation_source;
  return set != nullptr ? set(1) : CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult Client::dropped_records(std::size_t* count) const {
  return shares() ? functions_->dropped_records_v2(subscriber_, nullptr, 0, count)
                  : functions_->dropped_records(nullptr, 0, count);
}

bool Client::leave_call_out(bool runtime, std::uint32_t id) const {
  if (shares()) {
    const auto set = runtime ? functions_->enable_runtime_api_v2 : functions_->enable_driver_api_v2;
    return set != nullptr && set(subscriber_, id, 0) == CUPTI_SUCCESS;
  }
  const auto set = runtime ? functions_->enable_runtime_api : functions_->enable_driver_api;
  return set != nullptr && set(id, 0) == CUPTI_SUCCESS;
}

Signature_cuptiActivityGetNextRecord Client::walk() const {
  if (!shares()) return functions_->next_record;
  next_of_subscriber = functions_->next_record_v2;
  walking = subscriber_;
  return &walk_of_subscriber;
}

}  // namespace dft::gpu::cupti
