// SPDX-License-Identifier: MIT
// entities: events with every kind of arg, entities and relations, app metadata; what a reader may stumble over.
#include <dftracer/dftracer.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "facts.h"

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  DFTRACER_CPP_APP_METADATA_INT("epochs", 3);
  DFTRACER_CPP_APP_METADATA_STR("model", "res\"net\\50\n");
  DFTRACER_CPP_MARK_USED("part");
  DFTRACER_CPP_METADATA(note, "note", "a \"quoted\" value");
  DFTRACER_CPP_ENTITY_TYPE("protein_structure", DFT_ROLE_INPUT, "what goes in");
  const std::uint64_t input = DFTRACER_CPP_ENTITY("protein_structure", "MGYP0001", DFT_STORE_LOCAL_DISK, "/data/x");
  const std::uint64_t output = DFTRACER_CPP_ENTITY("sequence", "MGYP0001", DFT_STORE_MEMORY, nullptr);
  DFTRACER_CPP_ENTITY_RELATE(DFT_REL_DERIVED_FROM, output, input);
  for (int i = 0; i < 100; i++) {
    DFTRACER_CPP_REGION(step);
    DFTRACER_CPP_REGION_UPDATE(step, "number", i);
    DFTRACER_CPP_REGION_UPDATE(step, "big", std::int64_t{1} << 62);
    DFTRACER_CPP_REGION_UPDATE(step, "real", 1.25);
    DFTRACER_CPP_REGION_UPDATE(step, "text", std::string("x\"y\\z\n") + std::to_string(i));
    DFTRACER_CPP_REGION_RELATE(step, DFT_REL_USED, input);
    DFTRACER_CPP_REGION_RELATE(step, DFT_REL_GENERATED, output);
  }
  DFTRACER_CPP_INSTANT(mark);
  std::puts("ok");
  return 0;
}
