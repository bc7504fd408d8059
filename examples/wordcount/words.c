/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* must_allocate(size_t size) {
  void* memory = calloc(1, size);
  if (memory == NULL) {
    fputs("wordcount_c: out of memory\n", stderr);
    exit(1);
  }
  return memory;
}

static struct word* find(struct word* slots, size_t capacity, const char* text, size_t length) {
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  size_t at = (size_t)(hash ^ (hash >> 32)) & (capacity - 1);
  while (slots[at].text != NULL && (strncmp(slots[at].text, text, length) != 0 || slots[at].text[length] != 0)) {
    at = (at + 1) & (capacity - 1);
  }
  return &slots[at];
}

static void grow(struct words* table) {
  const size_t capacity = table->capacity == 0 ? 1024 : 2 * table->capacity;
  struct word* slots = must_allocate(capacity * sizeof *slots);
  for (size_t i = 0; i < table->capacity; i++) {
    const struct word* old = &table->slots[i];
    if (old->text != NULL) *find(slots, capacity, old->text, strlen(old->text)) = *old;
  }
  free(table->slots);
  table->slots = slots;
  table->capacity = capacity;
}

void words_add(struct words* table, const char* text, size_t length, uint64_t count) {
  if (2 * (table->used + 1) > table->capacity) grow(table);
  struct word* slot = find(table->slots, table->capacity, text, length);
  if (slot->text == NULL) {
    slot->text = must_allocate(length + 1);
    memcpy(slot->text, text, length);
    table->used++;
  }
  slot->count += count;
}

void words_free(struct words* table) {
  for (size_t i = 0; i < table->capacity; i++) free(table->slots[i].text);
  free(table->slots);
}

static int by_count(const void* left, const void* right) {
  const struct word* a = left;
  const struct word* b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  return strcmp(a->text, b->text);
}

struct word* words_sorted(const struct words* table, size_t* size) {
  struct word* order = must_allocate((table->used + 1) * sizeof *order);
  *size = 0;
  for (size_t i = 0; i < table->capacity; i++) {
    if (table->slots[i].text != NULL) order[(*size)++] = table->slots[i];
  }
  qsort(order, *size, sizeof *order, by_count);
  return order;
}
