// SPDX-License-Identifier: MIT
// late [quick]: events from everything that runs while a process ends, and from a thread that does not stop.
#include <dftracer/dftracer.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "facts.h"

static void emit_atexit() { DFTRACER_CPP_REGION(in_atexit); }
static void emit_quick() { DFTRACER_CPP_REGION(in_at_quick_exit); }

struct Global {
  ~Global() {
    DFTRACER_CPP_REGION(in_static_destructor);
    std::fputs("static destructor\n", stdout);
    std::fflush(stdout);
  }
};
static Global global;

__attribute__((destructor)) static void at_unload() { DFTRACER_CPP_REGION(in_elf_destructor); }

int main(int argc, char**) {
  std::atexit(emit_atexit);  // before init: runs after whatever the tracer registered at init
  std::at_quick_exit(emit_quick);
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  std::thread([] {
    for (;;) {
      DFTRACER_CPP_REGION(never_stops);
      usleep(50);
    }
  }).detach();
  for (int i = 0; i < 100; i++) {
    DFTRACER_CPP_REGION(before);
  }
  std::puts("main ends");
  std::fflush(stdout);
  if (argc > 1) std::quick_exit(0);
  return 0;
}
