# SPDX-License-Identifier: MIT
"""Strings and numbers that break other writers: each must come back as it went in, or as the documented stand-in."""

import math
import re

import harness
import pytest

PIECES = [
    b'a"b', b"a\\b", b"a\\", b'a\\"', b"C:\\tmp", b"'", b"(paren)|bar", b"{[,:]}", b"</script>", b"%s%n", b"\\u0041", b"\\n",
    b"\n", b"\r\n", b"\t", b"\x01", b"\x1b[31m", b"\x7f", b"\b\f", bytes(range(1, 32)), b" lead and trail ",
    "Größe".encode(), "日本語".encode(), "\U0001f600".encode(), "\u2028\u2029".encode(), "e\u0301".encode(),
    "\ufeff".encode(), "\uffff".encode(),
    b"\xff", b"\xff\xfe", b"ok\x80ok", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"a\xe2\x28\xa1b", b"x" * 65536, b'"' * 65536, b"\xff" * 65536, "€".encode() * 30000,
    b"x" * 65535, b"x" * 16383, b"x" * 40000, b"null", b"NaN", b"1", b"start", b"end",
]  # fmt: skip


def shown(raw: bytes) -> str:
    """Each invalid byte becomes U+FFFD, everything else stays."""
    out, at = [], 0
    while at < len(raw):
        for size in (1, 2, 3, 4):
            try:
                out.append(raw[at : at + size].decode("utf-8"))
                break
            except UnicodeDecodeError:
                continue
        else:
            out.append("\ufffd")
            size = 1
        at += size
    return "".join(out)


ALIKE = [p for n, p in enumerate(PIECES) if shown(p) in map(shown, PIECES[:n])]  # invalid in another way, shown the same
PIECES = [p for p in PIECES if p not in ALIKE]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    (folder / "strings").write_text("".join(p.hex() + "\n" for p in PIECES))
    run = harness.Bench(folder).same("fault/programs/names.c", folder / "strings")
    return run.trace()


def test_keys_that_are_shown_alike(bench):
    """Different invalid bytes become one key: an object must not hold it twice."""
    assert len(ALIKE) > 2
    strings = bench.folder / "strings"
    strings.write_text("".join(p.hex() + "\n" for p in [b"\xff\xfe", b"\xff", *ALIKE]))
    trace = bench.same("fault/programs/names.c", strings, "notes").trace()
    assert {shown(p) for p in ALIKE} <= set(trace.app)


def cut(raw: bytes) -> str:
    """Categories and keys have 16 bits for their length; names and values have 32."""
    return shown(raw[:65535])


def by_number(trace, condition):
    found = {e["args"]["number"]: e for e in trace.events if "number" in e.get("args", {}) and condition(e)}
    return [found.get(n) for n in range(1, len(PIECES) + 1)]


def test_names(named):
    events = by_number(named, lambda e: e["cat"] == "NAMED")
    assert [e and e["name"] for e in events] == [shown(p) for p in PIECES]


def test_categories(named):
    events = by_number(named, lambda e: e["name"] == "category" and e["cat"] not in ("VALUE", "KEY", "NAMED"))
    assert [e and e["cat"] for e in events] == [cut(p) for p in PIECES]


def test_s48_s50_values(named):
    events = by_number(named, lambda e: e["cat"] == "VALUE")
    assert [e and e["args"]["text"] for e in events] == [shown(p) for p in PIECES]


def test_keys(named):
    for piece, event in zip(PIECES, by_number(named, lambda e: e["cat"] == "KEY")):
        assert event["args"].get(cut(piece)) == "under that key", piece[:50]


def test_metadata_and_notes_of_the_process(named):
    notes = [r["args"]["value"] for r in named.metadata("CM") if r["args"]["name"] == "note"]
    assert notes == [shown(p) for p in PIECES]
    for piece in PIECES:
        assert named.app[shown(piece)] == shown(piece)
        assert named.used[shown(piece)] == 1


def test_what_follows_is_whole(named):
    assert len([e for e in named.events if e["cat"] == "AFTER"]) == len(PIECES)
    assert len(named.lines) == len(named.records)


def test_validate_agrees(named):
    done = harness.dftracer("validate", named.path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("compression", ["0", "1"])
def test_a_line_of_any_length_is_read_back(bench, compression):
    run = bench.same("fault/programs/long_line.c", env={"DFTRACER_TRACE_COMPRESSION": compression})
    assert run.trace().one("longest")["args"]["text"] == "\x01" * (12 << 20)
    done = harness.dftracer("validate", "--strict-loss", run.trace().path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_s50_numbers_are_exact(bench):
    run = bench.same("fault/programs/values.c")
    trace = run.trace()
    values = [e["args"]["value"] for e in trace.named("real")]
    assert values[:3] == [None] * 3
    expected = [0.0, -0.0, 1.5, 0.1, 1234567890.123, 16777217.0, 1e300, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, -2.5e-10, 123456789012345678.0]  # fmt: skip
    assert values[3:] == expected
    text = [l for l in trace.lines if b'"name":"real"' in l][4]
    assert re.search(rb'"value":-0(\.0)?[,}]', text), "the sign of zero"
    assert not any(isinstance(v, float) and not math.isfinite(v) for v in values)
    args = trace.one("whole")["args"]
    assert args["int_min"] == -(2**31) and args["int64_min"] == -(2**63) and args["int64_max"] == 2**63 - 1
    assert args["uint64_max"] == 2**64 - 1 and args["yes"] == 1 and args["no"] == 0 and args["empty"] == ""
    assert args["twice"] == "second"
    assert [k for k in trace.one("many")["args"] if k != "hhash"] == [f"k{i}" for i in range(1000)]
