// SPDX-License-Identifier: MIT
#include "tools/commands.h"

extern "C" {
// Marks this process for a core that LD_PRELOAD brings into it: the command is never traced.
__attribute__((visibility("default"), used)) int dftracer_tool_process = 1;
}

int main(int argc, char** argv) { return dft::tools::dftracer_main(argc, argv); }
