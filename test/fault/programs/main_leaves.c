/* SPDX-License-Identifier: MIT */
/* main_leaves: the main thread ends by pthread_exit while another thread ends the image: argument 1 is exec or exit,
 * argument 2 the time in microseconds by which that thread lags behind (or, negative, leads). */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"
#include "work.h"

static const char* how;
static int lag_us;

static void* other(void* unused) {
  work(100);
  if (lag_us > 0) usleep((useconds_t)lag_us);
  if (strcmp(how, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
  exit(9);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  if (argc < 3) return 2;
  how = argv[1];
  lag_us = atoi(argv[2]);
  work(100);
  if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  if (lag_us < 0) usleep((useconds_t)-lag_us);
  pthread_exit(NULL);
}
