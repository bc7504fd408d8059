// SPDX-License-Identifier: MIT
// Purpose: declares the public API to the code that implements it, exported. A public function is noexcept, keeps errno
//          and accepts null everywhere.
#pragma once

#pragma GCC visibility push(default)
#include "dftracer/dftracer.h"
#pragma GCC visibility pop

#include <cerrno>

// Defines the generic name of an older release as a weak alias, so that a program's own definition wins.
#define DFT_WEAK_ALIAS(name) __attribute__((weak, visibility("default"), alias("dftracer_" #name)))

namespace dft::api {

class ErrnoKeeper {
 public:
  ErrnoKeeper() : value_(errno) {}
  ~ErrnoKeeper() { errno = value_; }
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;

 private:
  int value_;
};

}  // namespace dft::api
