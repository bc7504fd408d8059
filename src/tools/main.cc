// SPDX-License-Identifier: MIT
#include "tools/commands.h"

int main(int argc, char** argv) { return dft::tools::dftracer_main(argc, argv); }
