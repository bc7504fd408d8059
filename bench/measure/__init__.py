# SPDX-License-Identifier: MIT
"""The parts of bench/run.py: programs (what is built), backends (how a tracer is run), traces (what was written),
rows (what is measured), report (the table)."""
