// SPDX-License-Identifier: MIT
// Purpose: makes the same I/O calls over and over on N threads and prints their processor time as one line of JSON.
//          Files lie below the current directory: traced/ and other/, of which a tracer may be told to leave out
//          other/.
// Threads: the measured threads only call between two readings of their own processor clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kMaxThreads = 256, kBlock = 4096, kBatch = 10000, kWarmup = 1000 };

struct state {
  int number;
  int fd;
  FILE* stream;
  char path[64];
  char block[kBlock];
  uint64_t cpu_ns;
};

static void check(int holds, const char* what) {
  if (!holds) {
    perror(what);
    exit(1);
  }
}

static void read_at_end(struct state* s, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) check(read(s->fd, s->block, kBlock) == 0, "read");
}

static void whole_files(struct state* s, uint64_t calls) {
  for (uint64_t i = 0; i < calls; i += 4) {
    const int fd = open(s->path, O_RDWR | O_CREAT, 0600);
    check(write(fd, s->block, kBlock) == kBlock, "write");
    check(read(fd, s->block, kBlock) == 0, "read");
    check(close(fd) == 0, "close");
  }
}

static void stream(struct state* s, uint64_t calls) {
  for (uint64_t at = 0; at < calls; at += kBatch) {
    rewind(s->stream);
    for (int i = 0; i < kBatch / 2; ++i) check(fwrite(s->block, 64, 1, s->stream) == 1, "fwrite");
    rewind(s->stream);
    for (int i = 0; i < kBatch / 2; ++i) check(fread(s->block, 64, 1, s->stream) == 1, "fread");
  }
}

static void open_close(struct state* s, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) check(close(open(s->path, O_RDWR | O_CREAT, 0600)) == 0, "open");
}

static const struct way {
  const char* name;
  const char* folder;
  void (*run)(struct state*, uint64_t);
} ways[] = {
    {"read_at_end", "traced", read_at_end}, {"whole_files", "traced", whole_files}, {"stream", "traced", stream},
    {"untraced_fd", "other", read_at_end},  {"filtered_open", "other", open_close},
};

static const struct way* way;
static uint64_t calls = 1000000;
static pthread_barrier_t go;
static struct state states[kMaxThreads];

static uint64_t thread_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void* run_thread(void* argument) {
  struct state* s = argument;
  snprintf(s->path, sizeof s->path, "%s/file%d", way->folder, s->number);
  s->fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  s->stream = fopen(s->path, "w+");
  check(s->fd >= 0 && s->stream != NULL, s->path);
  way->run(s, way->run == stream ? kBatch : kWarmup);
  pthread_barrier_wait(&go);
  const uint64_t begin = thread_cpu_ns();
  way->run(s, calls);
  s->cpu_ns = thread_cpu_ns() - begin;
  return NULL;
}

int main(int argc, char** argv) {
  int threads = 1;
  way = &ways[0];
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--threads")) threads = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--calls")) calls = strtoull(argv[i + 1], NULL, 10);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w) {
      if (!strcmp(argv[i], "--way") && !strcmp(argv[i + 1], ways[w].name)) way = &ways[w];
    }
  }
  if (threads < 1 || threads > kMaxThreads) return 2;
  mkdir("traced", 0700);
  mkdir("other", 0700);
  close(open("traced/first", O_RDWR | O_CREAT, 0600));  // a tracer that waits for its first event has begun
  pthread_barrier_init(&go, NULL, (unsigned)threads);
  pthread_t ids[kMaxThreads];
  uint64_t cpu = 0;
  for (int i = 0; i < threads; ++i) {
    states[i].number = i;
    pthread_create(&ids[i], NULL, run_thread, &states[i]);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    cpu += states[i].cpu_ns;
  }
  printf("{\"threads\":%d,\"calls\":%" PRIu64 ",\"warmup\":%d,\"thread_cpu_ns\":%" PRIu64 ",\"process_cpu_ns\":0}\n",
         threads, calls, kWarmup, cpu);
  return 0;
}
