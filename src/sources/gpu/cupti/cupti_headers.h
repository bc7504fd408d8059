// SPDX-License-Identifier: MIT
// Purpose: the vendor's declarations, of whichever toolkit the build has; the only file that includes them.
// Not cupti.h itself: it adds parameter structs of the CUDA runtime, whose headers a build does not need (no_runtime/).
#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>
