# SPDX-License-Identifier: MIT
"""docs/io.md names every operation that the tables of functions know."""

import re
import tomllib

import harness
import pytest


@pytest.mark.parametrize("table", ["posix", "stdio"])
def test_every_operation_is_documented(table):
    rows = tomllib.loads((harness.SOURCE / "spec" / f"{table}.toml").read_text())
    text = (harness.SOURCE / "docs" / "io.md").read_text()
    documented = set(re.findall(r"\w+", text.split("## Operations")[1].split("## Names of files")[0]))
    # Rows whose wrapper has no event of its own follow their descriptor only.
    silent = [r["fn"] for r in rows["irregular"] if re.search(r"no event|as (socket|pidfd_getfd|recvmsg)", r["why"])]
    operations = {r.get("op", r["fn"]) for kind in ("regular", "irregular") for r in rows[kind] if r["fn"] not in silent}
    assert operations <= documented, sorted(operations - documented)
