// SPDX-License-Identifier: MIT
// Purpose: a trace with the content that a Python program's reading of many small files has: for each file one record
//          that gives its path a hash, then open, two lseek, two read and a close, each timed around the real call and
//          carrying the args that a traced call carries. For the row "bytes an event".
// Usage:   file_reading FOLDER FILES   (creates the files, reads each once in a shuffled order)
#define _GNU_SOURCE
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kEventsPerFile = 6 };

static uint64_t mix(uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27, x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void path_of(const char* folder, uint64_t file, char* out, size_t size) {
  snprintf(out, size, "%s/part_%02u/img_%06u.npz", folder, (unsigned)(file % 16), (unsigned)file);
}

static int make_files(const char* folder, uint64_t files) {
  static const char content[8192] = {1};
  char path[4096];
  for (unsigned part = 0; part < 16; ++part) {
    snprintf(path, sizeof path, "%s/part_%02u", folder, part);
    if (mkdir(path, 0755) != 0) return -1;
  }
  for (uint64_t i = 0; i < files; ++i) {
    path_of(folder, i, path, sizeof path);
    const int fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0644);
    const size_t size = 512 + mix(i) % (sizeof content - 512);
    if (fd < 0 || write(fd, content, size) != (ssize_t)size || close(fd) != 0) return -1;
  }
  return 0;
}

static long traced_seek(int fd, long offset, int whence, const char* hash) {
  DFTRACER_C_REGION_START(lseek64);
  const long ret = lseek(fd, offset, whence);
  DFTRACER_C_REGION_UPDATE_INT(lseek64, "whence", whence);
  DFTRACER_C_REGION_UPDATE_INT64(lseek64, "offset", offset);
  DFTRACER_C_REGION_UPDATE_INT64(lseek64, "ret", ret);
  DFTRACER_C_REGION_UPDATE_STR(lseek64, "fhash", hash);
  DFTRACER_C_REGION_END(lseek64);
  return ret;
}

static long traced_read(int fd, char* buffer, size_t size, const char* hash) {
  DFTRACER_C_REGION_START(read);
  const long ret = read(fd, buffer, size);
  DFTRACER_C_REGION_UPDATE_INT64(read, "count", (int64_t)size);
  DFTRACER_C_REGION_UPDATE_INT64(read, "ret", ret);
  DFTRACER_C_REGION_UPDATE_STR(read, "fhash", hash);
  DFTRACER_C_REGION_END(read);
  return ret;
}

static void read_file(const char* path, const char* hash) {
  static char buffer[16384];
  DFTRACER_C_REGION_START(open64);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  DFTRACER_C_REGION_UPDATE_INT(open64, "flags", O_RDONLY | O_CLOEXEC);
  DFTRACER_C_REGION_UPDATE_INT(open64, "mode", 0666);
  DFTRACER_C_REGION_UPDATE_INT(open64, "ret", fd);
  DFTRACER_C_REGION_UPDATE_STR(open64, "fhash", hash);
  DFTRACER_C_REGION_END(open64);
  traced_seek(fd, 0, SEEK_CUR, hash);
  traced_seek(fd, 0, SEEK_CUR, hash);
  while (traced_read(fd, buffer, sizeof buffer, hash) > 0) {
  }
  DFTRACER_C_REGION_START(close);
  const int ret = close(fd);
  DFTRACER_C_REGION_UPDATE_INT(close, "ret", ret);
  DFTRACER_C_REGION_UPDATE_STR(close, "fhash", hash);
  DFTRACER_C_REGION_END(close);
}

int main(int argc, char** argv) {
  const uint64_t files = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
  if (files == 0) {
    fprintf(stderr, "usage: %s FOLDER FILES\n", argv[0]);
    return 2;
  }
  if (make_files(argv[1], files) != 0) {
    perror(argv[1]);
    return 3;
  }
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (uint64_t i = 0; i < files; ++i) {
    const uint64_t file = (i * 7919 + 13) % files;  // 7919 is prime: every file once
    char path[4096], hash[32];
    path_of(argv[1], file, path, sizeof path);
    snprintf(hash, sizeof hash, "%016" PRIx64, mix(file + 1));
    DFTRACER_C_METADATA(file_hash, path, hash);
    read_file(path, hash);
  }
  DFTRACER_C_FINI();
  printf("{\"events\":%" PRIu64 "}\n", files * kEventsPerFile);
  return 0;
}
