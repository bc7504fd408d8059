// SPDX-License-Identifier: MIT
// Purpose: fork() in a signal handler that interrupted the recorder. The child returns into the interrupted code, which
//          goes on with what it had in hand: copies that nobody reads, never the parent's crash file.
// Threads: the forking one, with the recorder's locks held (share_with_child), or the first of a child.
// Invariants:
//   1. Thread states are inherited, because code that is about to enter the recorder, or has just left it, holds one
//      while its level is 0.
//   2. In a child the states of its parent are orphaned: they get no chunks and no slots, and the drain does not see
//   them.
#pragma once

#include "record/thread_state.h"

namespace dft::record {

// Whether a child inherits the chunks that interrupted code of this thread may hold. Does nothing outside the recorder.
void share_with_child(bool share);
void orphan_threads();
// Asked before anything is taken for `state`. One that is orphaned is let go: its thread attaches anew at its next
// event.
bool may_take(const ThreadState* state);

}  // namespace dft::record
