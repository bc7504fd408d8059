/* SPDX-License-Identifier: MIT */
/* S10 to S12: text by streams; streams on descriptors and back. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void print_list(FILE* file, const char* format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(file, format, list);
  va_end(list);
}

static void print_stdout(const char* format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

static int texts(void) {
  puts("by puts");
  printf("%d by printf\n", 1);
  print_stdout("%d by vprintf\n", 2);
  FILE* file = fopen("text", "w");
  fputs("by fputs\n", file);
  fputc('a', file);
  putc('\n', file);
  fprintf(file, "%s\n", "by fprintf");
  print_list(file, "%s\n", "by vfprintf");
  fwrite("by fwrite\n", 1, 10, file);
  fflush(file);
  dprintf(fileno(file), "%s\n", "by dprintf");
  fclose(file);
  file = fopen("text", "r");
  char line[64], *grown = NULL;
  size_t room = 0;
  if (fgets(line, sizeof line, file) == NULL) return 1;
  const int first = fgetc(file);
  ungetc(first, file);
  if (fscanf(file, "%63s\n", line) != 1) return 1;
  if (getline(&grown, &room, file) < 0 || getdelim(&grown, &room, 'f', file) < 0) return 1;
  printf("%c %s %s\n", first, line, grown);
  if (fread(line, 1, 5, file) != 5) return 1;
  free(grown);
  return fclose(file);
}

static int blocks(void) {
  FILE* file = fopen("blocks", "w");
  for (int i = 0; i < 1000; i++) fwrite("0123456789", 10, 1, file);
  return fclose(file);
}

static int handed_over(void) {
  FILE* file = fopen("f", "w");
  if (write(fileno(file), "x", 1) != 1) return 1;
  FILE* again = fdopen(dup(fileno(file)), "w");
  fputs("yy", again);
  fclose(again);
  file = freopen("g", "w", file);
  if (write(fileno(file), "zzz", 3) != 3) return 1;
  fclose(file);
  FILE* command = popen("cat > /dev/null", "w");
  fputs("into the pipe", command);
  pclose(command);
  int ends[2], pair[2];
  const int memory = memfd_create("mine", 0);
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  if (write(memory, "m", 1) != 1 || write(ends[1], "pp", 2) != 2 || write(pair[0], "sss", 3) != 3) return 1;
  return 0;
}

int main(int count, char** words) {
  (void)count;
  if (strcmp(words[1], "texts") == 0) return texts();
  if (strcmp(words[1], "blocks") == 0) return blocks();
  return handed_over();
}
