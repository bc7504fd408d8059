// SPDX-License-Identifier: MIT
// Purpose: runs the regions of one back end on N threads and prints what that cost as one line of JSON.
// Threads: the measured threads only run the back end's loops between two readings of their own processor clock.
#define _GNU_SOURCE  // RUSAGE_THREAD
#include "regions/harness.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kMaxThreads = 256, kPaceBatch = 500 };

struct options {
  int args;
  int threads;
  uint64_t regions;  // on each thread
  uint64_t warmup;
  double pace;  // regions a second on each thread; 0: as fast as possible
  int watch;    // look at each region's duration
  int hold;     // threads stay alive until the back end has finished
};

struct result {
  uint64_t cpu_ns;
  uint64_t wall_ns;
  struct bench_waits waits;
};

const char* const bench_names[8] = {"img_000.npz", "img_001.npz", "img_002.npz", "img_003.npz",
                                    "img_004.npz", "img_005.npz", "img_006.npz", "img_007.npz"};

static struct options options = {0, 1, 1000000, 1000, 0, 0, 0};
static struct result results[kMaxThreads];
static pthread_barrier_t ready, go, done, leave;
static double ticks_per_ns = 1;

static uint64_t read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t process_cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
         ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

// The kernel's ru_maxrss would also count the process that started this one.
static long peak_rss_kib(void) {
  char line[256];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  }
  if (status) fclose(status);
  return kib;
}

static void read_switches(struct bench_waits* waits) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  waits->voluntary_switches = usage.ru_nvcsw;
  waits->involuntary_switches = usage.ru_nivcsw;
}

// A region that waited and was preempted besides says nothing of either: the trace's own records tell of its wait.
void bench_slow_region(struct bench_waits* waits, uint64_t ticks) {
  const long voluntary = waits->voluntary_switches, involuntary = waits->involuntary_switches;
  read_switches(waits);
  const int waited = waits->voluntary_switches != voluntary, preempted = waits->involuntary_switches != involuntary;
  waits->waits += (uint64_t)waited;
  if (waited && !preempted && ticks > waits->longest) waits->longest = ticks;
  if (!waited && ticks > waits->longest_preempted) waits->longest_preempted = ticks;
}

static void calibrate(void) {
  const uint64_t ns = read_clock(CLOCK_MONOTONIC), ticks = bench_ticks();
  while (read_clock(CLOCK_MONOTONIC) - ns < 10000000u) {
  }
  ticks_per_ns = (double)(bench_ticks() - ticks) / (double)(read_clock(CLOCK_MONOTONIC) - ns);
}

static void run_batch(uint64_t from, uint64_t count, struct bench_waits* waits) {
  if (options.watch) {
    (options.args ? bench_watched_loop_4 : bench_watched_loop_0)(from, count, waits);
  } else {
    (options.args ? bench_loop_4 : bench_loop_0)(from, count);
  }
}

static void run_paced(struct bench_waits* waits) {
  const uint64_t start = read_clock(CLOCK_MONOTONIC);
  for (uint64_t at = 0; at < options.regions; at += kPaceBatch) {
    const uint64_t due = start + (uint64_t)((double)at * 1e9 / options.pace);
    const struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    const uint64_t left = options.regions - at;
    run_batch(at, left < kPaceBatch ? left : kPaceBatch, waits);
  }
}

static void* run_thread(void* argument) {
  struct result* result = argument;
  struct bench_waits* waits = &result->waits;
  waits->threshold = (uint64_t)(50000 * ticks_per_ns);
  bench_backend_thread_start();
  run_batch(0, options.warmup, waits);
  memset(&waits->longest, 0, sizeof *waits - sizeof waits->threshold);
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&go);
  read_switches(waits);
  const uint64_t wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (options.pace > 0) {
    run_paced(waits);
  } else {
    run_batch(0, options.regions, waits);
  }
  result->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
  result->wall_ns = read_clock(CLOCK_MONOTONIC) - wall;
  pthread_barrier_wait(&done);
  if (options.hold) pthread_barrier_wait(&leave);
  return NULL;
}

// Counters of programs/count_calls.c when it is preloaded, else null.
static uint64_t (*counter(const char* name))(void) {
  uint64_t (*function)(void) = NULL;
  void* symbol = dlsym(RTLD_DEFAULT, name);
  memcpy(&function, &symbol, sizeof function);
  return function;
}

static void parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--watch")) {
      options.watch = 1;
    } else if (!strcmp(argv[i], "--hold")) {
      options.hold = 1;
    } else if (!strcmp(argv[i], "--args") && ++i) {
      options.args = atoi(value);
    } else if (!strcmp(argv[i], "--threads") && ++i) {
      options.threads = atoi(value);
    } else if (!strcmp(argv[i], "--regions") && ++i) {
      options.regions = strtoull(value, NULL, 10);
    } else if (!strcmp(argv[i], "--warmup") && ++i) {
      options.warmup = strtoull(value, NULL, 10);
    } else if (!strcmp(argv[i], "--pace") && ++i) {
      options.pace = strtod(value, NULL);
    } else {
      fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
      exit(2);
    }
  }
  if ((options.args != 0 && options.args != 4) || options.threads < 1 || options.threads > kMaxThreads) {
    fprintf(stderr, "%s: --args is 0 or 4, --threads 1 to %d\n", argv[0], kMaxThreads);
    exit(2);
  }
}

static void print_results(void) {
  uint64_t cpu = 0, wall = 0, longest = 0, preempted = 0, waits = 0;
  for (int i = 0; i < options.threads; ++i) {
    const struct bench_waits* w = &results[i].waits;
    cpu += results[i].cpu_ns;
    waits += w->waits;
    if (results[i].wall_ns > wall) wall = results[i].wall_ns;
    if (w->longest > longest) longest = w->longest;
    if (w->longest_preempted > preempted) preempted = w->longest_preempted;
  }
  printf("{\"backend\":\"%s\",\"args\":%d,\"threads\":%d,\"regions\":%" PRIu64 ",\"warmup\":%" PRIu64
         ",\"thread_cpu_ns\":%" PRIu64 ",\"loop_wall_ns\":%" PRIu64,
         bench_backend_name, options.args, options.threads, options.regions, options.warmup, cpu, wall);
  if (options.watch) {
    printf(",\"waits\":%" PRIu64 ",\"longest_wait_ns\":%.0f,\"longest_preempted_ns\":%.0f", waits,
           (double)longest / ticks_per_ns, (double)preempted / ticks_per_ns);
  }
}

int main(int argc, char** argv) {
  parse(argc, argv);
  if (options.watch) calibrate();
  const unsigned parties = (unsigned)options.threads + 1;
  pthread_barrier_init(&ready, NULL, parties);
  pthread_barrier_init(&go, NULL, parties);
  pthread_barrier_init(&done, NULL, parties);
  pthread_barrier_init(&leave, NULL, parties);
  uint64_t (*allocations)(void) = counter("bench_count_allocations");
  uint64_t (*locks)(void) = counter("bench_count_locks");

  const uint64_t started = read_clock(CLOCK_MONOTONIC), cpu = process_cpu_ns();
  bench_backend_start();
  const uint64_t start_ns = read_clock(CLOCK_MONOTONIC) - started;
  pthread_t threads[kMaxThreads];
  for (int i = 0; i < options.threads; ++i) {
    if (pthread_create(&threads[i], NULL, run_thread, &results[i]) != 0) return 3;
  }
  pthread_barrier_wait(&ready);
  const uint64_t allocations_before = allocations ? allocations() : 0, locks_before = locks ? locks() : 0;
  pthread_barrier_wait(&go);
  pthread_barrier_wait(&done);
  const uint64_t allocations_after = allocations ? allocations() : 0, locks_after = locks ? locks() : 0;
  const uint64_t finishing = read_clock(CLOCK_MONOTONIC);
  bench_backend_finish();
  const uint64_t finish_ns = read_clock(CLOCK_MONOTONIC) - finishing;
  if (options.hold) pthread_barrier_wait(&leave);
  for (int i = 0; i < options.threads; ++i) pthread_join(threads[i], NULL);

  print_results();
  printf(",\"start_ns\":%" PRIu64 ",\"finish_ns\":%" PRIu64 ",\"process_cpu_ns\":%" PRIu64 ",\"peak_rss_kib\":%ld",
         start_ns, finish_ns, process_cpu_ns() - cpu, peak_rss_kib());
  if (allocations && locks) {
    printf(",\"allocations\":%" PRIu64 ",\"locks\":%" PRIu64, allocations_after - allocations_before,
           locks_after - locks_before);
  }
  printf("}\n");
  fflush(stdout);
  return 0;
}
