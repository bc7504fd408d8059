// SPDX-License-Identifier: MIT
#include "sources/gpu/range_stack.h"

#include <pthread.h>

#include "base/futex_lock.h"
#include "base/raw_io.h"

namespace dft::gpu {

namespace {

using record::Region;

constexpr unsigned kStackDepth = 256;

struct Open {
  Region* region;
  const void* domain;
};
struct Stack {
  unsigned count;
  Stack* next_free;
  Open ranges[kStackDepth];
};
// A pointer only: room for a library's thread-local variables is scarce when it is loaded late.
__thread Stack* own_stack;
base::FutexLock free_lock;
Stack* free_stacks;  // of threads that ended
pthread_key_t thread_end;

void give_back(void* stack) {
  own_stack = nullptr;
  auto* const mine = static_cast<Stack*>(stack);
  const base::LockGuard lock(free_lock);
  mine->next_free = free_stacks;
  free_stacks = mine;
}

Stack* take_stack() {
  Stack* stack;
  {
    const base::LockGuard lock(free_lock);
    stack = free_stacks;
    if (stack != nullptr) free_stacks = stack->next_free;
  }
  if (stack == nullptr) stack = static_cast<Stack*>(base::raw::map(sizeof(Stack)));
  if (stack == nullptr) return nullptr;
  stack->count = 0;
  pthread_setspecific(thread_end, stack);
  return own_stack = stack;
}

int depth_of(const Stack& stack, const void* domain) {
  int depth = 0;
  for (unsigned i = 0; i < stack.count; ++i) depth += stack.ranges[i].domain == domain ? 1 : 0;
  return depth;
}

}  // namespace

bool prepare_range_stacks() {
  static const bool has_key = pthread_key_create(&thread_end, give_back) == 0;
  return has_key;
}

int push_range(const void* domain, Region* region) {
  Stack* const stack = own_stack != nullptr ? own_stack : take_stack();
  const int depth = stack != nullptr ? depth_of(*stack, domain) : 0;
  if (stack != nullptr && stack->count < kStackDepth) {
    stack->ranges[stack->count++] = {region, domain};
  } else if (region != nullptr) {
    record::close_region(region);  // too deep: its begin is kept, its end is not
  }
  return depth;
}

int pop_range(const void* domain) {
  Stack* const stack = own_stack;
  for (unsigned i = stack != nullptr ? stack->count : 0; i-- > 0;) {
    Open* const ranges = stack->ranges;
    if (ranges[i].domain != domain) continue;
    // A fork child or a new recording has other regions; such a handle is stale and is ignored.
    record::close_region(ranges[i].region);
    for (unsigned j = i + 1; j < stack->count; ++j) ranges[j - 1] = ranges[j];
    --stack->count;
    return depth_of(*stack, domain);
  }
  return -1;
}

void range_stacks_in_forked_child() {
  free_lock.reset_after_fork();
  free_stacks = nullptr;
}

}  // namespace dft::gpu
