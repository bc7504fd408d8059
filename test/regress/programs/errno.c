/* SPDX-License-Identifier: MIT */
/* S24: no macro moves errno, whatever happens inside: first event of a thread, a full buffer, a fork, a failing trace.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "facts.h"
#include "work.h"

static int failures;

#define KEEPS(statement)                                                             \
  do {                                                                               \
    errno = 77;                                                                      \
    statement;                                                                       \
    if (errno != 77 && failures++ < 10) printf("%s: errno %d\n", #statement, errno); \
  } while (0)

static void* in_thread(void* unused) {
  KEEPS(work_one(1));
  return unused;
}

int main(void) {
  printf("start %d\n", errno);
  KEEPS(DFTRACER_C_INIT(NULL, NULL, NULL));
  KEEPS(DFTRACER_C_METADATA(x, "key", "value"));
  KEEPS(DFTRACER_C_APP_METADATA_INT("n", 1));
  KEEPS(DFTRACER_C_APP_METADATA_STR("s", "text"));
  KEEPS(DFTRACER_C_MARK_USED("part"));
  KEEPS(DFTRACER_C_INSTANT(now));
  for (int i = 0; i < 50000; i++) KEEPS(work_one(i));
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  errno = 77;
  const pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", errno);
    KEEPS(work_one(2));
    KEEPS(DFTRACER_C_FINI());
    fflush(stdout);
    _exit(failures != 0);
  }
  printf("parent %d\n", errno);
  int status;
  waitpid(child, &status, 0);
  KEEPS(DFTRACER_C_FINI());
  KEEPS(DFTRACER_C_FINI());
  KEEPS(DFTRACER_C_INIT(NULL, NULL, NULL));
  KEEPS(work_one(3));
  KEEPS(DFTRACER_C_FINI());
  printf("child's status %d, failures %d\n", status, failures);
  return failures != 0;
}
