// SPDX-License-Identifier: MIT
// An annotated program with I/O of its own: annotated [WHAT...], in this order. Files are made in the current
// directory.
#define _GNU_SOURCE
#include <dftracer/dftracer.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// One file: open, write, read, close by POSIX; then the same by STDIO.
static void io(const char* name) {
  char text[64];
  const int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
  if (fd < 0 || write(fd, "0123456789", 10) != 10 || pread(fd, text, sizeof text, 0) != 10 || close(fd) != 0) exit(90);
  FILE* stream = fopen(name, "r");
  if (stream == NULL || fread(text, 1, 10, stream) != 10 || fclose(stream) != 0) exit(91);
}

static void region(void) {
  DFTRACER_C_REGION_START(work);
  DFTRACER_C_REGION_END(work);
}

static int status_of(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) exit(92);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void plugin(const char* path, int mode, int looks_up) {
  void* library = dlopen(path, mode);
  if (library == NULL) exit(93);
  // Without a look-up: its address is handed out by its constructor.
  int (*call)(const char*) = looks_up ? (int (*)(const char*))dlsym(library, "plugin_io") : NULL;
  if (call == NULL) {
    const char* address = getenv("PLUGIN_IO");
    call = (int (*)(const char*))strtoul(address, NULL, 16);
    usleep(400000);  // several flush intervals of the test, whose subject they are
  }
  if (call("plugin.txt") != 0) exit(94);
}

// Which library this program's calls of pread lead to, by a word that the linker fills as it fills its slots.
static ssize_t (*const volatile called)(int, void*, size_t, off_t) = pread;
static void slots(void) {
  Dl_info info;
  if (dladdr((void*)called, &info) == 0) exit(89);
  puts(strstr(info.dli_fname, "libdftracer_core") != NULL ? "dftracer" : "libc");
}

static volatile sig_atomic_t handled;
static void on_signal(int number) { handled += number; }

// What the application sees of its handlers, whatever the tracer has installed under them.
static void signals(void) {
  handled = 0;
  struct sigaction old;
  sigaction(SIGTERM, NULL, &old);
  printf("SIGTERM default %d\n", old.sa_handler == SIG_DFL);
  printf("SIGINT default %d\n", signal(SIGINT, on_signal) == SIG_DFL);
  raise(SIGINT);
  printf("handled %d ours %d\n", handled == SIGINT, signal(SIGINT, SIG_DFL) == on_signal);
  sigaction(SIGINT, NULL, &old);
  printf("SIGINT default %d\n", old.sa_handler == SIG_DFL);
  fflush(stdout);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* what = argv[i];
    if (strcmp(what, "init") == 0) {
      DFTRACER_C_INIT(NULL, NULL, NULL);
    } else if (strcmp(what, "no_bind") == 0) {
      DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
    } else if (strncmp(what, "init:", 5) == 0) {  // PREFIX,DIRS
      char* dirs = strchr(what, ',');
      if (dirs != NULL) *dirs++ = '\0';
      DFTRACER_C_INIT(what + 5, dirs, NULL);
    } else if (strcmp(what, "fini") == 0) {
      DFTRACER_C_FINI();
    } else if (strncmp(what, "io:", 3) == 0) {
      io(what + 3);
    } else if (strcmp(what, "region") == 0) {
      region();
    } else if (strcmp(what, "fork") == 0) {
      const pid_t pid = fork();
      if (pid == 0) {
        io("child.txt");
        _exit(3);
      }
      if (status_of(pid) != 3) return 95;
    } else if (strcmp(what, "vfork") == 0) {
      const pid_t pid = vfork();
      if (pid == 0) {
        close(open("/dev/null", O_RDONLY));
        execl("/bin/true", "true", (char*)NULL);
        _exit(99);
      }
      if (status_of(pid) != 0) return 96;
    } else if (strncmp(what, "exec:", 5) == 0) {
      execv(what + 5, argv + i);
      if (errno != ENOENT) return 97;
    } else if (strcmp(what, "self") == 0) {  // the rest as a new image
      execv("/proc/self/exe", argv + i);
      return 98;
    } else if (strncmp(what, "plugin:", 7) == 0) {
      plugin(what + 7, RTLD_NOW | RTLD_LOCAL, 1);
    } else if (strncmp(what, "deep:", 5) == 0) {
      plugin(what + 5, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, 1);
    } else if (strncmp(what, "silent:", 7) == 0) {
      plugin(what + 7, RTLD_NOW | RTLD_LOCAL, 0);
    } else if (strncmp(what, "_exit:", 6) == 0) {
      _exit(atoi(what + 6));
    } else if (strcmp(what, "sync") == 0) {
      sync();
    } else if (strcmp(what, "signals") == 0) {
      signals();
    } else if (strncmp(what, "kill:", 5) == 0) {
      raise(atoi(what + 5));
    } else if (strcmp(what, "slots") == 0) {
      slots();
    } else {
      return 99;
    }
  }
  return 0;
}
