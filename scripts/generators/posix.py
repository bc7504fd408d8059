# SPDX-License-Identifier: MIT
"""spec/posix.toml: see io_rows.py."""

from .io_rows import generate_for

generate = generate_for("posix")
