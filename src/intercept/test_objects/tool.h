/* SPDX-License-Identifier: MIT */
/* A library with a binder and wrappers, as ours is; built twice, the second time as somebody else's tool. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
#define TOOL_WITH_SPARE 1
#define TOOL_GIVEN_REAL 2
struct ToolCounts {
  unsigned objects, slots, other, unsure, refused, through;
};
struct Tool {
  int (*bind)(int options);
  void (*bind_new_objects)(int dlopen_flags);
  void (*unbind)(void);
  struct ToolCounts (*counts)(void);
  long (*reads)(void);       /* calls that the wrapper of read saw */
  long (*spare_reads)(void); /* those of its spare */
  long (*dlerrors)(void);
  void* (*real_read)(void);
  void* read_wrapper;
  void* spawn_wrapper;
  void* old_spawn_wrapper;
};
const struct Tool* DFT_TEST_TOOL(void);
#ifdef __cplusplus
}
#endif
