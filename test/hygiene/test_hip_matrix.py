# SPDX-License-Identifier: MIT
"""scripts/hip_matrix.py against an index of its own: what it reads of a wheel, and that it can fail and be skipped."""

import http.server
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import zipfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NAME = "triton-3.8.0-cp312-cp312-manylinux_2_28_x86_64.whl"
VERSION = "".join(f"#define ROCPROFILER_VERSION_{part} {n}\n" for part, n in (("MAJOR", 1), ("MINOR", 0), ("PATCH", 9)))


def wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("triton/_C/libtriton.so", os.urandom(4 << 20))
        archive.writestr("triton/backends/amd/include/rocprofiler-sdk/version.h", VERSION)
        archive.writestr("triton/backends/amd/include/rocprofiler-sdk/fwd.h", "struct rocprofiler_agent_id_t { int wrong; };\n")
        archive.writestr("triton/backends/amd/lib/ocml.bc", b"no header")
    return out.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        if self.path == "/simple/triton/":
            body = json.dumps({"files": [{"filename": NAME, "url": f"http://127.0.0.1:{self.server.server_port}/{NAME}"}]}).encode()
            return self.answer(200, body)
        data, asked = self.server.wheel, self.headers.get("Range")
        if asked is None:
            return self.answer(200, data)
        first, last = re.fullmatch(r"bytes=(\d*)-(\d+)", asked).groups()
        begin, end = (int(first), int(last)) if first else (len(data) - int(last), len(data) - 1)
        self.server.sent += end - begin + 1
        return self.answer(206, data[begin : end + 1], {"Content-Range": f"bytes {begin}-{end}/{len(data)}"})

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for key, value in {**dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.wheel, server.sent = wheel(), 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def run(tmp_path, url, *arguments):
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()} | {"PIP_INDEX_URL": url, "ROCM_PATH": ""}
    command = [sys.executable, SOURCE / "scripts/hip_matrix.py", "--cache", tmp_path / "cache", *arguments]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)


def test_only_the_headers_of_a_wheel_are_read_and_wrong_ones_fail(tmp_path, index):
    done = run(tmp_path, f"http://127.0.0.1:{index.server_port}/simple")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compile rocprofiler-sdk 1.0.9 (part of the headers, from triton 3.8.0): FAILED" in done.stdout
    assert "no triton 3.9.0" in done.stdout
    assert index.sent < 1 << 20, "the whole wheel was fetched"
    kept = sorted(str(p.relative_to(tmp_path / "cache")) for p in (tmp_path / "cache").rglob("*") if p.is_file())
    assert kept == [f"triton-3.8.0/rocprofiler-sdk/{name}" for name in ("fwd.h", "version.h")]


@pytest.mark.skipif(pathlib.Path("/opt/rocm/include/rocprofiler-sdk").is_dir(), reason="there are headers here")
def test_without_an_index_it_is_skipped_with_the_reason(tmp_path):
    done = run(tmp_path, "http://127.0.0.1:9/simple")
    assert done.returncode == 77 and "skipped: no headers" in done.stdout and "127.0.0.1:9" in done.stdout, done.stdout


def test_a_folder_without_the_sdk_is_an_error(tmp_path):
    done = run(tmp_path, "http://127.0.0.1:9/simple", "--headers", tmp_path)
    assert done.returncode == 1 and "has no rocprofiler-sdk folder" in done.stderr
