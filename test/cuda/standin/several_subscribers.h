// SPDX-License-Identifier: MIT
// Purpose: the entry points for a subscriber among several (CUPTI 13.3). A piece of libcupti.cc, behind its own.
#pragma once

EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, RequestV2 request, CompleteV2 complete) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  State& s = state();
  s.request_v2 = request;
  s.complete_v2 = complete;
  s.request = &request_v1;
  s.complete = &complete_v1;
  return kOk;
}
EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void*) {
  called();
  return is_foreign(subscriber) ? kNotCompatible : enable(kind);
}
EXPORT int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void*) {
  called();
  return is_foreign(subscriber) ? kNotCompatible : enable(kind);
}
EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void*) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  state().counters.enabled &= ~(std::uint64_t{1} << kind);
  return kOk;
}
EXPORT int cuptiActivityGetNextRecord_v2(void* subscriber, std::uint8_t* buffer, std::size_t valid,
                                         std::uint8_t** record) {
  called();
  return is_foreign(subscriber) ? kNotCompatible : next_record(buffer, valid, record);
}
EXPORT int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void*, std::uint32_t, std::size_t* dropped) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  *dropped = __atomic_exchange_n(&state().scenario.drops, 0, __ATOMIC_RELAXED);
  return kOk;
}
EXPORT int cuptiActivitySetAttribute_v2(void* subscriber, int attribute, std::size_t* size, void* value) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  if (attribute == kThreadIdType && *size != sizeof(std::uint32_t)) return kInvalidParameter;
  if (attribute == kGraphTrace && (state().scenario.nodes || state().counters.enabled != 0)) return kNotCompatible;
  if (attribute == kZeroedBuffers) state().zeroed = *static_cast<std::uint8_t*>(value) != 0;
  return kOk;
}
EXPORT int cuptiActivityEnableRuntimeApi_v2(void* subscriber, std::uint32_t, std::uint8_t on) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  state().counters.calls_left_out += on == 0 ? 1 : 0;
  return kOk;
}
EXPORT int cuptiActivityEnableDriverApi_v2(void* subscriber, std::uint32_t, std::uint8_t on) {
  called();
  if (is_foreign(subscriber)) return kNotCompatible;
  state().counters.calls_left_out += on == 0 ? 1 : 0;
  return kOk;
}
