# SPDX-License-Identifier: MIT
"""The import path of releases 1.x for the adapter of torch.compile."""

from dftracer.python.dynamo import Dynamo, create_backend, dynamo  # noqa: F401
