/* SPDX-License-Identifier: MIT */
/* The ways in which a program comes to use HIP. Usage: starts WAY */
#include <dftracer/dftracer.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"
#include "use_hip.h"

static int mapped(const char* name) {
  char line[4352];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, name) != NULL;
  if (maps != NULL) fclose(maps);
  return found;
}

static void region(const char* name) { dftracer_finalize_region(dftracer_initialize_region(name, NULL, 0)); }

static void child(int how) {
  const pid_t pid = fork();
  if (pid == 0) {
    region("child");
    use_hip();
    if (how == 1) _exit(0);
    if (how == 2) quick_exit(0);
    exit(0);
  }
  int status = -1;
  if (waitpid(pid, &status, 0) != pid || status != 0) exit(92);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "init";
  if (strcmp(way, "hip-first") == 0) use_hip();
  if (strcmp(way, "no-bind") == 0) {
    DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
  } else {
    DFTRACER_C_INIT(NULL, NULL, NULL);
  }
  region("before");
  use_hip();
  if (strcmp(way, "both") == 0) { /* the other vendor too */
    void* runtime = dlopen("libcudart.so.13", RTLD_NOW);
    int (*release)(void*) = runtime != NULL ? (int (*)(void*))dlsym(runtime, "cudaFree") : NULL;
    if (release == NULL || release(NULL) != 0) return 93;
  }
  if (strcmp(way, "fork") == 0) {
    for (int how = 0; how < 3; ++how) child(how);
    use_hip();
  }
  if (strcmp(way, "exec") == 0) {
    execl("/nowhere/at/all", "nothing", NULL);
    execl("/bin/true", "true", NULL);
    return 94;
  }
  if (strcmp(way, "again") == 0) {
    DFTRACER_C_FINI();
    DFTRACER_C_INIT(NULL, NULL, NULL);
    use_hip();
  }
  fact("sdk", mapped("librocprofiler-sdk"));
  region("after");
  if (strcmp(way, "no-fini") != 0) DFTRACER_C_FINI();
  return 0;
}
