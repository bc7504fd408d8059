// SPDX-License-Identifier: MIT
// Purpose: stands before the CUDA runtime's header of this name, which CUPTI's headers include and use nothing of. It
// comes in other packages than CUPTI's (crt/host_defines.h in yet another), so a build would need those for nothing.
#pragma once
