/* SPDX-License-Identifier: MIT */
/* A plugin whose constructor, inside dlopen, has the tracer look for new objects. */
#include <unistd.h>

#include "tool.h"

ssize_t constructor_read(void) { return read(-1, NULL, 0); }
__attribute__((constructor)) static void start(void) { DFT_TEST_TOOL()->bind_new_objects(0); }
