/* SPDX-License-Identifier: MIT
 *
 * The plain C twin of wordcount.cpp: the same work, the same output, the same regions, with the C macros.
 *
 *   wordcount_c [--threads N] [--top N] [--repeat N] [DIRECTORY]
 */
#define _POSIX_C_SOURCE 200809L
#include <dftracer/dftracer.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "words.h"

enum { kBlock = 16 * 1024 };

struct options {
  const char* directory;
  unsigned long threads, top, repeat;
};

struct tally {
  uint64_t files, bytes, words;
  struct words table;
};

struct files {
  char** paths;
  size_t count;
};

/* What the threads share: they take the next job until none is left. */
struct jobs {
  const struct files* files;
  size_t count, next;
  pthread_mutex_t lock;
};

struct worker {
  struct jobs* jobs;
  struct tally tally;
  pthread_t thread;
};

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Counts the words that begin in [begin, end) of a text. */
static uint64_t count_block(const char* text, size_t size, size_t begin, size_t end, char* word, struct tally* tally) {
  DFTRACER_C_FUNCTION_START();
  uint64_t words = 0;
  size_t at = begin;
  while (at < end) {
    const int inside_earlier_word = at == begin && at > 0 && is_letter(text[at - 1]);
    size_t length = 0;
    for (; at < size && is_letter(text[at]); at++) word[length++] = (char)(text[at] | 0x20);
    if (length > 0 && !inside_earlier_word) {
      words_add(&tally->table, word, length, 1);
      words++;
    }
    while (at < end && !is_letter(text[at])) at++;
  }
  DFTRACER_C_FUNCTION_UPDATE_UINT64("offset", begin);
  DFTRACER_C_FUNCTION_UPDATE_UINT64("words", words);
  DFTRACER_C_FUNCTION_END();
  return words;
}

/* The whole file, to be freed; null when it cannot be read. An early return ends the region too. */
static char* read_file(const char* path, size_t* size) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_BOOL("ok", 0);
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t capacity = kBlock;
  char* text = must_allocate(capacity);
  *size = 0;
  for (size_t got; (got = fread(text + *size, 1, capacity - *size, file)) > 0;) {
    *size += got;
    if (*size < capacity) continue;
    char* larger = must_allocate(2 * capacity);
    memcpy(larger, text, capacity);
    free(text);
    text = larger;
    capacity *= 2;
  }
  const int good = !ferror(file);
  fclose(file);
  DFTRACER_C_FUNCTION_UPDATE_UINT64("bytes", *size);
  DFTRACER_C_FUNCTION_UPDATE_BOOL("ok", good);
  if (good) return text;
  free(text);
  return NULL;
}

static void count_file(const char* path, struct tally* tally) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_STR("path", path);
  DFTRACER_C_FUNCTION_RELATE(DFT_REL_USED, DFTRACER_C_ENTITY("text_file", path, DFT_STORE_LOCAL_DISK, path));
  size_t size = 0;
  char* text = read_file(path, &size);
  if (text == NULL) {
    DFTRACER_C_INSTANT(unreadable);
    fprintf(stderr, "wordcount_c: cannot read %s\n", path);
    return;
  }
  uint64_t words = 0;
  char* word = must_allocate(size + 1);
  for (size_t at = 0; at < size; at += kBlock) {
    words += count_block(text, size, at, at + kBlock < size ? at + kBlock : size, word, tally);
  }
  free(word);
  free(text);
  tally->files++;
  tally->bytes += size;
  tally->words += words;
  DFTRACER_C_FUNCTION_UPDATE_UINT64("words", words);
  DFTRACER_C_FUNCTION_UPDATE_DOUBLE("bytes_per_word", words ? (double)size / (double)words : 0.0);
  DFTRACER_C_FUNCTION_END();
}

static int by_name(const void* left, const void* right) { return strcmp(*(char* const*)left, *(char* const*)right); }

static struct files list_files(const char* directory) {
  DFTRACER_C_FUNCTION_START();
  struct files files = {NULL, 0};
  DIR* folder = opendir(directory);
  for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    char* path = must_allocate(strlen(directory) + strlen(entry->d_name) + 2);
    sprintf(path, "%s/%s", directory, entry->d_name);
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
      free(path);
      continue;
    }
    char** longer = must_allocate((files.count + 1) * sizeof *longer);
    if (files.count > 0) memcpy(longer, files.paths, files.count * sizeof *longer);
    free(files.paths);
    files.paths = longer;
    files.paths[files.count++] = path;
  }
  if (folder != NULL) closedir(folder);
  if (files.count > 0) qsort(files.paths, files.count, sizeof *files.paths, by_name);
  DFTRACER_C_FUNCTION_UPDATE_STR("directory", directory);
  DFTRACER_C_FUNCTION_UPDATE_UINT64("files", files.count);
  DFTRACER_C_FUNCTION_END();
  return files;
}

static void* work(void* argument) {
  struct worker* self = argument;
  for (;;) {
    pthread_mutex_lock(&self->jobs->lock);
    const size_t job = self->jobs->next++;
    pthread_mutex_unlock(&self->jobs->lock);
    if (job >= self->jobs->count) break;
    count_file(self->jobs->files->paths[job % self->jobs->files->count], &self->tally);
  }
  DFTRACER_C_INSTANT("thread done");
  return NULL;
}

static struct tally merge(const struct worker* workers, size_t count) {
  DFTRACER_C_FUNCTION_START();
  struct tally all = {0, 0, 0, {NULL, 0, 0}};
  for (size_t i = 0; i < count; i++) {
    const struct tally* tally = &workers[i].tally;
    all.files += tally->files;
    all.bytes += tally->bytes;
    all.words += tally->words;
    for (size_t at = 0; at < tally->table.capacity; at++) {
      const struct word* word = &tally->table.slots[at];
      if (word->text != NULL) words_add(&all.table, word->text, strlen(word->text), word->count);
    }
  }
  DFTRACER_C_FUNCTION_UPDATE_UINT64("distinct", all.table.used);
  DFTRACER_C_FUNCTION_END();
  return all;
}

static struct tally count_files(const struct files* files, const struct options* options) {
  struct jobs jobs = {files, files->count * options->repeat, 0, PTHREAD_MUTEX_INITIALIZER};
  struct worker* workers = must_allocate(options->threads * sizeof *workers);
  size_t started = 0;
  for (; started < options->threads; started++) {
    workers[started].jobs = &jobs;
    if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) break;
  }
  for (size_t i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
  const struct tally all = merge(workers, started);
  for (size_t i = 0; i < started; i++) words_free(&workers[i].tally.table);
  free(workers);
  return all;
}

static void print(const struct tally* tally, size_t top) {
  printf("%" PRIu64 " files, %" PRIu64 " bytes, %" PRIu64 " words, %zu different\n", tally->files, tally->bytes,
         tally->words, tally->table.used);
  size_t size = 0;
  struct word* order = words_sorted(&tally->table, &size);
  for (size_t i = 0; i < size && i < top; i++) printf("%10" PRIu64 " %s\n", order[i].count, order[i].text);
  free(order);
}

static int run(const struct options* options) {
  DFTRACER_C_FUNCTION_START();
  struct files files = list_files(options->directory);
  if (files.count == 0) {
    fprintf(stderr, "wordcount_c: no files in %s\n", options->directory);
    return 1;
  }
  struct tally all = count_files(&files, options);
  print(&all, options->top);
  const int status = all.files == files.count * options->repeat ? 0 : 1;
  words_free(&all.table);
  for (size_t i = 0; i < files.count; i++) free(files.paths[i]);
  free(files.paths);
  DFTRACER_C_FUNCTION_END();
  return status;
}

static int parse(int argc, char** argv, struct options* options) {
  for (int i = 1; i < argc; i++) {
    unsigned long* number = strcmp(argv[i], "--threads") == 0  ? &options->threads
                            : strcmp(argv[i], "--top") == 0    ? &options->top
                            : strcmp(argv[i], "--repeat") == 0 ? &options->repeat
                                                               : NULL;
    if (number != NULL && i + 1 < argc) {
      *number = strtoul(argv[++i], NULL, 10);
    } else if (number == NULL && strncmp(argv[i], "--", 2) != 0) {
      options->directory = argv[i];
    } else {
      return 0;
    }
  }
  return options->threads > 0 && options->repeat > 0;
}

int main(int argc, char** argv) {
  struct options options = {"/usr/share/common-licenses", 4, 10, 1};
  if (!parse(argc, argv, &options)) {
    fprintf(stderr, "usage: wordcount_c [--threads N] [--top N] [--repeat N] [DIRECTORY]\n");
    return 2;
  }
  DFTRACER_C_INIT(NULL, NULL, NULL);
  DFTRACER_C_APP_METADATA_STR("directory", options.directory);
  DFTRACER_C_APP_METADATA_INT("threads", (int)options.threads);
  DFTRACER_C_ENTITY_TYPE("text_file", DFT_ROLE_INPUT, "file whose words are counted");
  const int status = run(&options);
  DFTRACER_C_FINI();
  return status;
}
