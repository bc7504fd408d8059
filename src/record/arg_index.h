// SPDX-License-Identifier: MIT
// Purpose: finds an arg of a long self-describing list by its key, so that n args cost n steps and not n * n.
// Threads: the one that holds `busy` of the region's slot.
// Invariant: whoever gives back a list's chunk gives back its index first (drop_arg_index), or hands it on.
#pragma once

#include <string_view>

#include "model/args.h"
#include "model/chunk.h"

namespace dft::record {

// The arg of this key in the `bytes` of args in `list` that is written and no relation; null when there is none. Makes
// an index, in a chunk of its own that hangs on `list`, once the search has become long.
model::ArgHeader* find_arg(model::ChunkHeader* list, std::size_t bytes, std::string_view key);
// The same for a list that is known to be short.
model::ArgHeader* find_arg(char* args, std::size_t bytes, std::string_view key, unsigned* steps);
// An arg of this key was put at `offset`; any earlier one of the key no longer counts.
void note_arg(model::ChunkHeader* list, std::size_t offset, std::string_view key);
void hand_on_arg_index(model::ChunkHeader* from, model::ChunkHeader* to);
void drop_arg_index(model::ChunkHeader* list);

}  // namespace dft::record
