// SPDX-License-Identifier: MIT
// Purpose: keeps the ThreadSanitizer of a traced program from reporting our own thread: our library is not
// instrumented,
//          so the sanitizer sees the memcpy of two threads and not the atomics between them.
// Threads: any; counts for the calling thread while it lives.
#pragma once

#if !defined(__SANITIZE_THREAD__) && !defined(DFTRACER_WITH_TSAN)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DFTRACER_WITH_TSAN
#endif
#endif
#endif

#if defined(__SANITIZE_THREAD__) || defined(DFTRACER_WITH_TSAN)
namespace dft::base {
class UnseenByThreadSanitizer {};  // a build of ours with the sanitizer wants to be looked at
}  // namespace dft::base
#else

extern "C" {
// Of the sanitizer's runtime, where the program has one.
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace dft::base {

class UnseenByThreadSanitizer {
 public:
  UnseenByThreadSanitizer() {
    if (&AnnotateIgnoreReadsBegin != nullptr) AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    if (&AnnotateIgnoreWritesBegin != nullptr) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~UnseenByThreadSanitizer() {
    if (&AnnotateIgnoreWritesEnd != nullptr) AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    if (&AnnotateIgnoreReadsEnd != nullptr) AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  UnseenByThreadSanitizer(const UnseenByThreadSanitizer&) = delete;
  UnseenByThreadSanitizer& operator=(const UnseenByThreadSanitizer&) = delete;
};

}  // namespace dft::base
#endif
