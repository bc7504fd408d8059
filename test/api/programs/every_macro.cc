// SPDX-License-Identifier: MIT
// Every C++ macro once, and the class, strict C++11 and newer.
#include <dftracer/dftracer.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace app {
struct Failure : std::runtime_error {
  Failure() : std::runtime_error("failure") {}
};

template <class T>
T doubled(T value) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("value", value);
  return value + value;
}

struct Worker {
  explicit Worker(int n) : n_(n) { DFTRACER_CPP_FUNCTION(); }
  virtual ~Worker() { DFTRACER_CPP_FUNCTION(); }
  virtual int run() const;
  int n_;
};

int Worker::run() const {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("n", n_);
  DFTRACER_CPP_FUNCTION_UPDATE_TYPE("kind", "loop", MT_VALUE);
  DFTRACER_CPP_FUNCTION_RELATE(DFT_REL_UPDATED, 5);
  DFTRACER_CPP_FUNCTION_USES("file", "in");
  DFTRACER_CPP_FUNCTION_GENERATES("file", "out");
  const auto lambda = [](int i) {
    DFTRACER_CPP_REGION(lambda_region);
    DFTRACER_CPP_REGION_UPDATE(lambda_region, "i", i);
    DFTRACER_CPP_REGION_UPDATE_TYPE(lambda_region, "half", i / 2.0, MT_KEY);
    DFTRACER_CPP_REGION_RELATE(lambda_region, DFT_REL_USED, 6);
    return i;
  };
  int sum = 0;
  for (int i = 0; i < n_; i++) sum += lambda(i);
  return sum;
}
}  // namespace app

static void interleaved() {
  DFTRACER_CPP_REGION_START(first);
  DFTRACER_CPP_REGION_START(second);
  DFTRACER_CPP_REGION_DYN_UPDATE(first, "flag", true);
  DFTRACER_CPP_REGION_END(first);
  DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(second, "text", std::string("std"), MT_IGNORE);
  DFTRACER_CPP_REGION_DYN_RELATE(second, DFT_REL_GENERATED, 7);
  DFTRACER_CPP_REGION_END(second);
}

static void fails() {
  DFTRACER_CPP_REGION(thrower);
  throw app::Failure();
}

static void under_if(bool no) {
  DFTRACER_CPP_REGION(guarded);
  DFTRACER_CPP_REGION_START(started);
  if (no)
    DFTRACER_CPP_REGION_UPDATE(guarded, "no", 1);
  else
    DFTRACER_CPP_REGION_UPDATE(guarded, "yes", 1);
  if (no) DFTRACER_CPP_INIT_NO_BIND(nullptr, nullptr, nullptr);
  if (no) DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  if (no) DFTRACER_CPP_INSTANT(no_instant);
  if (no) DFTRACER_CPP_METADATA(m, "no", "no");
  if (no) DFTRACER_CPP_APP_METADATA_INT("no", 1);
  if (no) DFTRACER_CPP_ENTITY_RELATE(DFT_REL_PART_OF, 1, 2);
  if (no) DFTRACER_CPP_FINI();
  if (!no) DFTRACER_CPP_REGION_END(started);
}

static void by_class() {
  const std::string name = "named " + std::to_string(1);
  DFTracer region(name.c_str(), "OWN", DF_DATA_EVENT, 6);
  region.update("long", 1L << 40);
  region.update("unsigned", 4000000000u);
  region.update("float", 0.25f);
  region.relate(DFT_REL_USED, "file", "x", DFT_STORE_DATABASE, "db://x");
  region.uses("file", "y");
  region.generates("file", "z", DFT_STORE_MEMORY);
  region.finalize();
  DFTracer("quick", "OWN");
}

int main(int argc, char**) {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  DFTRACER_CPP_METADATA(meta, "key", "value");
  DFTRACER_CPP_APP_METADATA_INT("answer", 42);
  DFTRACER_CPP_APP_METADATA_STR("model", "small");
  DFTRACER_CPP_MARK_USED("mine");
  DFTRACER_CPP_ENTITY_TYPE("file", DFT_ROLE_INPUT, "what is read");
  const EntityID part = DFTRACER_CPP_ENTITY("file", "part", DFT_STORE_LOCAL_DISK, "/data/part");
  const EntityID whole = DFTRACER_CPP_ENTITY("file", "whole", DFT_STORE_PARALLEL_FS, nullptr);
  DFTRACER_CPP_ENTITY_RELATE(DFT_REL_PART_OF, part, whole);
  DFTRACER_CPP_INSTANT(checkpoint);
  const int sum = app::Worker(4).run() + app::doubled(2) + static_cast<int>(app::doubled(0.5));
  interleaved();
  under_if(argc > 5);
  by_class();
  bool caught = false;
  try {
    DFTRACER_CPP_REGION(outer);
    fails();
  } catch (const app::Failure&) {
    caught = true;
  }
  DFTRACER_CPP_FINI();
  std::printf("%d %d\n", sum, caught);
  return 0;
}
