/* SPDX-License-Identifier: MIT
 *
 * Purpose: the static variable behind each C macro that opens a region, in a header of its own so that compilers take
 *          it as a system header's.
 * Why:     C99 6.7.4 lets no inline function with external linkage define a static variable that can change, and GCC
 * and Clang say so at every such use of our macros. Here it does no harm: a copy of the function in each file gets a
 * site of its own, and equal sites become one by their names. GCC takes that from system headers only.
 */
#if defined(__GNUC__)
#pragma GCC system_header
#endif
#ifndef DFTRACER_DFTRACER_SITE_H
#define DFTRACER_DFTRACER_SITE_H

#include "dftracer/dftracer.h"

#if defined(__clang__) && !defined(__cplusplus)
#define DFTRACER_C_SITE_(variable, name)                                                                        \
  _Pragma("clang diagnostic push")                                                                              \
      _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"") static struct dftracer_site variable = { \
          name, C_LOG_CATEGORY, DFTRACER_TYPE_C_APP, 0} _Pragma("clang diagnostic pop")
#else
#define DFTRACER_C_SITE_(variable, name) \
  static struct dftracer_site variable = {name, C_LOG_CATEGORY, DFTRACER_TYPE_C_APP, 0}
#endif

#endif /* DFTRACER_DFTRACER_SITE_H */
