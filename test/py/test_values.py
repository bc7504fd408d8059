# SPDX-License-Identifier: MIT
"""Any value, name and key that Python has comes through exactly, or as documented (S49, S50): by property, with many
examples in few processes."""

import json
import math

import harness
import pyrun
import pytest

pytestmark = pyrun.need_package()
hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
NAME = TEXT.filter(lambda text: text != "")
VALUES = st.one_of(
    st.integers(-(2**70), 2**70), st.booleans(), st.none(), st.floats(), TEXT,
    st.lists(st.integers(), max_size=3), st.dictionaries(TEXT, st.integers(), max_size=2),
)  # fmt: skip
EVENTS = st.lists(
    st.tuples(NAME, NAME, st.dictionaries(NAME, VALUES, max_size=6)), min_size=1, max_size=60
)  # fmt: skip
EXAMPLES = 200 if harness.LONG else 12

PROGRAM = """
import json, os
for name, cat, args in eval(open(os.environ["DFT_EVENTS"], encoding="utf-8").read(), {"nan": float("nan"), "inf": float("inf")}):
    with dft_fn(cat, name) as d: d.update(args=args)
"""


def as_json(value):
    """What the trace is to have for a value."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)


def same(a, b):
    # A double without a fraction is written like an integer.
    return a == b and (type(a) is type(b) or {type(a), type(b)} <= {int, float})


@hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None,
                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow,
                                            hypothesis.HealthCheck.data_too_large, hypothesis.HealthCheck.large_base_example])
@hypothesis.given(events=EVENTS)
def test_names_keys_and_values(bench, events):
    path = bench.folder / "events"
    path.write_text(repr(events), encoding="utf-8")
    traced = pyrun.application(pyrun.run(bench, PROGRAM, env={"DFT_EVENTS": str(path)}))
    assert [(e["name"], e["cat"]) for e in traced] == [(name, cat) for name, cat, _ in events]
    reserved = {"hhash"}
    for event, (_, _, args) in zip(traced, events):
        got = {k: v for k, v in event.get("args", {}).items() if k not in reserved}
        wanted = {k: as_json(v) for k, v in args.items() if k not in reserved}
        assert got.keys() == wanted.keys()
        assert all(same(got[k], wanted[k]) for k in wanted), (got, wanted)


def test_arrays_and_scalars_of_numpy(bench):
    pytest.importorskip("numpy")
    (event,) = pyrun.application(
        pyrun.run(
            bench,
            """
        import numpy as np
        with dft_fn("C", "n", step=np.int64(2**40), image_size=np.float32(1.5)) as d:
            d.update(args={"i": np.int64(-5), "u": np.uint64(2**63), "f": np.float64(1.1), "h": np.float16(0.5),
                           "b": np.bool_(True), "a": np.zeros((3, 4)), "z": np.array(5), "e": np.array([])})
        """,
        )
    )
    args = event["args"]
    assert (args["step"], args["image_size"], args["i"], args["u"], args["f"], args["h"]) == (2**40, 1.5, -5, 2**63, 1.1, 0.5)
    assert (args["a"], args["z"], args["e"]) == ("float64(3, 4)", 5, "float64(0,)")
    assert args["b"] in (1, "True")


def test_surrogates_and_long_texts(bench):
    (event,) = pyrun.application(
        pyrun.run(
            bench,
            r"""
        import os
        with dft_fn("C", "n" * 5000) as d:
            d.update(args={"raw": os.fsdecode(b"a\xffb"), "long": "x" * 200000, "k" * 300: 1, "lone": "\ud800"})
        """,
        )
    )
    assert event["name"] == "n" * 5000
    args = event["args"]
    assert args["raw"] == "a\ufffdb" and len(args["long"]) == 200000 and args["k" * 300] == 1
    json.dumps(args["lone"]).encode()
