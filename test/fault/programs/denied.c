/* SPDX-License-Identifier: MIT */
/* denied ERRNO CALL[,CALL...] PROGRAM ARGS...: runs a program in which these system calls fail with that number. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  int number;
} calls[] = {{"clone", SYS_clone},
             {"clone3", SYS_clone3},
             {"close_range", SYS_close_range},
             {"unshare", SYS_unshare},
             {"membarrier", SYS_membarrier},
             {"fallocate", SYS_fallocate},
             {"fsync", SYS_fsync},
             {"mkdir", SYS_mkdir}};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  }
  fprintf(stderr, "denied: no call %s\n", name);
  exit(98);
}

int main(int argc, char** argv) {
  const int error = argc > 3 ? atoi(argv[1]) : 98;
  struct sock_filter code[64];
  unsigned short size = 0;
  code[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char* name = strtok(argv[2], ","); name != NULL; name = strtok(NULL, ",")) {
    /* clone3 says ENOSYS, so that libc goes on to clone, whose answer is the wanted one */
    const int answer = strcmp(name, "clone3") == 0 ? 38 : error;
    code[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1);
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)answer);
  }
  code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {.len = size, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("denied: seccomp");
    return 97;
  }
  execv(argv[3], argv + 3);
  perror("denied: exec");
  return 98;
}
