// SPDX-License-Identifier: MIT
// Purpose: the controls of the stand-in for CUPTI.
#pragma once

#include <dlfcn.h>

#include "gpu_replay.h"
#include "sources/gpu/cupti/backend.h"
#include "standin/standin.h"

namespace dft::gpu {

class Standin {
 public:
  Standin() : handle_(dlopen(DFT_STANDIN, RTLD_NOW)) {
    if (handle_ == nullptr) std::abort();
  }
  void configure(const std::string& words, const std::string& recording = "synthetic.cuptirec") const {
    const std::string all = words + " recording=" DFT_RECORDINGS "/" + recording;
    reinterpret_cast<standin::Configure>(dlsym(handle_, "dft_standin_configure"))(all.c_str());
  }
  standin::Counters counters() const {
    standin::Counters out{};
    reinterpret_cast<standin::Read>(dlsym(handle_, "dft_standin_counters"))(&out);
    return out;
  }
  void work() const { reinterpret_cast<standin::Work>(dlsym(handle_, "dft_standin_work"))(); }
  void deliver_late() const { reinterpret_cast<standin::Late>(dlsym(handle_, "dft_standin_deliver_late"))(); }

 private:
  void* handle_;
};

}  // namespace dft::gpu
