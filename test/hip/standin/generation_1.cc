// SPDX-License-Identifier: MIT
#include "state.h"
const standin::Release standin::kNewest = standin::Release::k10;
