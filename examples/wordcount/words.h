/* SPDX-License-Identifier: MIT
 *
 * The table of words of the C program: open addressing, words lower-case and NUL-terminated. One thread each.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

struct word {
  char* text; /* null: free */
  uint64_t count;
};

struct words {
  struct word* slots;
  size_t capacity; /* a power of two, or 0 */
  size_t used;
};

/* Adds `count` to the word of `length` chars. The program ends when memory is refused. */
void words_add(struct words* table, const char* text, size_t length, uint64_t count);
void words_free(struct words* table);
/* All words, most frequent first, then by name; *size of them. To be freed; the texts stay the table's. */
struct word* words_sorted(const struct words* table, size_t* size);
/* What malloc gives, or the end of the program. */
void* must_allocate(size_t size);

#endif
