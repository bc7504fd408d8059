# SPDX-License-Identifier: MIT
"""The package is typed: mypy accepts it, strictly, and what users write with it."""

import os
import re
import subprocess
import sys

import harness
import pyrun
import pytest

pytest.importorskip("mypy")
CONFIG = "[mypy]\nstrict = true\ncache_dir = {cache}\n[mypy-torch.*,functorch.*]\nignore_missing_imports = true\n"

USE = """
from dftracer.python import ai, dft_fn, dftracer, TagDType, TagValue

f = dft_fn("cat", epoch=1)

@f.log
def load(path: str, step: int = 0) -> bytes:
    return b""

@ai.compute.forward(args={"x": 1})
def forward(x: float) -> float:
    return x

@f.log_static(name="given")
def static() -> None: ...

reveal_type(load)
reveal_type(forward(1.0))
for number in f.iter(range(3)):
    reveal_type(number)
with ai.pipeline.epoch(epoch=1) as node, dft_fn("c", "n") as block:
    block.update(step=1, args={"t": TagValue(3, TagDType.INT)}).flush()
    node.update(args={"k": 1})
reveal_type(dftracer.initialize_log("x").get_time())
"""


def mypy(tmp_path, *arguments):
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG.format(cache=tmp_path / "cache"))
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, *arguments], capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(harness.SOURCE / "python")},
    )  # fmt: skip


def test_the_package_is_typed(tmp_path):
    done = mypy(tmp_path, "-p", "dftracer")
    assert done.returncode == 0, done.stdout


def test_users_see_the_types(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = mypy(tmp_path, "use.py")
    assert done.returncode == 0, done.stdout
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout.replace("builtins.", ""))
    assert revealed == ["def (path: str, step: int =) -> bytes", "float", "int", "int"]


def test_every_native_name_is_in_the_stub():
    if not list((pyrun.PACKAGE / "dftracer").glob("dftracer*.so")):
        pytest.skip("the build has no Python package")
    code = "import dftracer.dftracer as n; print(*(x for x in dir(n) if not x.startswith('_')))"
    done = subprocess.run([sys.executable, "-c", code], env=pyrun.environment(), capture_output=True, text=True, check=True)
    stub = (harness.SOURCE / "python/dftracer/dftracer.pyi").read_text()
    missing = [n for n in done.stdout.split() if f"def {n}(" not in stub and f"class {n}" not in stub]
    assert not missing
