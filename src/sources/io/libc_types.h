// SPDX-License-Identifier: MIT
// Purpose: the headers whose types stand in the signatures of spec/posix.toml and spec/stdio.toml.
#pragma once

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>

// On every machine that we build for the plain and the 64-bit forms have one signature.
static_assert(sizeof(off_t) == sizeof(off64_t));
