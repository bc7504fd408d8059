# SPDX-License-Identifier: MIT
"""spec/stdio.toml: see io_rows.py."""

from .io_rows import generate_for

generate = generate_for("stdio")
