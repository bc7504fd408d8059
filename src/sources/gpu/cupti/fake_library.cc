// SPDX-License-Identifier: MIT
// Purpose: a library with CUPTI's entry points that does nothing, for tests of the search. FAKE_API is the version
//          that it answers, none with 0; FAKE_DRIVER makes a libcuda of that version; FAKE_LACKS leaves out a needed
//          function; FAKE_13_2 has what tells 13.2, and crashes when it is called without a driver, as that does.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default"))) int

#ifdef FAKE_DRIVER
FAKE_EXPORT cuDriverGetVersion(int* version) {
  *version = FAKE_DRIVER;
  return 0;
}
FAKE_EXPORT cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
#else
FAKE_EXPORT cuptiGetVersion(std::uint32_t* version) {
#ifdef FAKE_13_2
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) == nullptr) std::abort();
#endif
  if (FAKE_API == 0) return 999;
  *version = FAKE_API;
  return 0;
}
#define FAKE(name) \
  FAKE_EXPORT name() { return 0; }
FAKE(cuptiGetResultString)
FAKE(cuptiGetTimestamp)
FAKE(cuptiGetDeviceId)
FAKE(cuptiGetContextId)
FAKE(cuptiGetStreamIdEx)
FAKE(cuptiActivityRegisterCallbacks)
FAKE(cuptiActivityEnable)
FAKE(cuptiActivityDisable)
FAKE(cuptiActivityGetNextRecord)
FAKE(cuptiActivityFlushAll)
FAKE(cuptiActivityGetNumDroppedRecords)
FAKE(cuptiActivitySetAttribute)
FAKE(cuptiActivityGetAttribute)
FAKE(cuptiSubscribe)
FAKE(cuptiUnsubscribe)
FAKE(cuptiEnableCallback)
FAKE(cuptiEnableDomain)
FAKE(cuptiGetCallbackName)
#ifdef FAKE_13_2
FAKE(cuptiActivityEnable_v2)
#endif
#ifndef FAKE_LACKS
FAKE(cuptiSetThreadIdType)
#endif
#endif
