// SPDX-License-Identifier: MIT
// Purpose: how tests steer the stand-in for libcupti: what it replays, and what goes wrong.
// In a program of its own the environment does it: DFT_CUPTI_STANDIN="recording=FILE drops=3 ...", the same words.
#pragma once

#include <cstdint>

namespace standin {

// Words, separated by blanks:
//   recording=FILE   what the flushes deliver: everything at the first one, again at none
//   api=N            answer of cuptiGetVersion, whatever the recording says
//   drops=N          so many records dropped, told once
//   zero_every=N     every Nth kernel has no times; zero_end_every=N: no end
//   unknown=N        N records of a kind and size that nobody knows, at the end of each buffer
//   conflict=NAME    the subscription is held by NAME
//   fail=KIND:CODE   enabling that kind is refused (may come several times)
//   threads=N        so many threads hand over the buffers
//   repeat=N         the recording N times over, times and correlation ids moved on
//   hold=1           everything comes at a forced flush only
//   hang=1           a flush never returns
//   no_context=1     no context exists before the first flush
//   graph=ID:NODES:CHILD  at the first flush a graph is made executable, with NODES kernels and a child graph of CHILD
//                         kernels (0: none)
//   share=1          the driver lets several subscribers work side by side (with api=130300); then the one of conflict=
//                    does, too
//   nodes=1          another subscriber has had graphs recorded node by node
//   shift=1          times are moved so that the recording ends now
using Configure = void (*)(const char* words);  // dft_standin_configure

struct Counters {
  std::uint64_t calls;           // of any entry point
  std::uint64_t calls_in_child;  // by another process than the one that loaded it
  std::uint64_t requested;       // buffers asked for
  std::uint64_t refused;         // null answers
  std::uint64_t delivered;       // records handed over
  std::uint64_t discarded;       // records for which there was no buffer
  std::uint64_t unsubscribed;
  std::uint64_t enabled;         // bit per kind
  std::uint64_t closed;          // calls of the form for one client, made by one of several
  std::uint64_t calls_left_out;  // cuptiActivityEnableRuntimeApi and -DriverApi with 0
};
using Read = void (*)(Counters* out);  // dft_standin_counters
using Late = void (*)();               // dft_standin_deliver_late: a buffer completed now, whoever listens
using Work = void (*)();               // dft_standin_work: the recording once more, for whoever listens

}  // namespace standin
