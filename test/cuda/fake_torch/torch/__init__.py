# SPDX-License-Identifier: MIT
"""As much of PyTorch as torch.profiler beside the tracer needs, over the stand-in for CUPTI: see autograd/profiler.py."""
