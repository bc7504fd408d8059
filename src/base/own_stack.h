// SPDX-License-Identifier: MIT
// Purpose: room for deep work on a thread of the application whose stack may be small (16 KiB, or 8 KiB of an alternate
//          signal stack): it runs on a stack of our own, mapped for the call.
// Threads: any. REQUIRES: every signal is blocked (SignalGuard): a handler with SA_ONSTACK would be put where the
//          interrupted frames of an alternate stack are.
// Errors: without memory for it, and where it is not supported, the work is done on the caller's stack.
#pragma once

// In a build of ours with a sanitizer all stays on the stacks that its runtime knows.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DFT_OWN_STACK
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef DFT_OWN_STACK
#endif
#endif

namespace dft::base {

// What `body` throws arrives at the caller.
void run_on_own_stack(void (*body)(void* argument), void* argument);

template <class Body>
[[gnu::always_inline]] inline auto on_own_stack(Body body) {
  struct Call {
    Body& body;
    decltype(body()) result{};
  } call{body};
  run_on_own_stack(
      [](void* argument) {
        auto* made = static_cast<Call*>(argument);
        made->result = made->body();
      },
      &call);
  return call.result;
}

}  // namespace dft::base
