# SPDX-License-Identifier: MIT
"""What a program asks of the kernel, by strace: the oracle for traces of I/O.

    subprocess.run([*strace.line(output), "tar", "cf", "x.tar", "d"], cwd=folder)
    calls = strace.parse(output.read_text(errors="surrogateescape"), str(folder))
    [c for c in calls if c.by_program]   # through a function of libc of that purpose; the others libc made for it: fopen, fread ...

strace prints the stack of each call (-k). Its first frames lie in libc; the outermost of them is the function that the
program called (`entry`). Calls of the dynamic loader and raw system calls have none.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess

FORKS = ("clone", "clone3", "fork", "vfork")

# System calls that are compared, and the kind under which several of the same meaning count.
KINDS = {
    "open": "open", "openat": "open", "creat": "open", "close": "close", "read": "read", "pread64": "pread",
    "readv": "readv", "preadv": "preadv", "preadv2": "preadv", "write": "write", "pwrite64": "pwrite",
    "writev": "writev", "pwritev": "pwritev", "pwritev2": "pwritev", "lseek": "lseek", "fsync": "fsync",
    "fdatasync": "fdatasync", "unlink": "unlink", "unlinkat": "unlink", "rename": "rename", "renameat": "rename",
    "renameat2": "rename", "mkdir": "mkdir", "mkdirat": "mkdir", "rmdir": "rmdir", "stat": "stat", "lstat": "stat",
    "fstat": "stat", "newfstatat": "stat", "statx": "stat", "truncate": "truncate", "ftruncate": "truncate",
    "link": "link", "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "readlink": "readlink",
    "readlinkat": "readlink", "chmod": "chmod", "fchmod": "chmod", "chown": "chown",
    "lchown": "chown", "fchown": "chown", "fchownat": "chown", "access": "access",
    "faccessat": "access", "faccessat2": "access", "copy_file_range": "copy_file_range", "fallocate": "fallocate",
    "flock": "flock", "sync_file_range": "sync_file_range",
}  # fmt: skip
# What parse() needs and no more: each call of these takes strace milliseconds where it shows stacks, all others (with
# seccomp) nothing. `?`: not on every architecture.
TRACED = "trace=" + ",".join(f"?{name}" for name in (*KINDS, *FORKS, "execve", "chdir", "fchdir"))
# Not compared: fchmodat and the utime family, which libc builds of other calls.
# The same for functions of libc, by the name of a traced event or of a symbol without what marks its variant.
FUNCTIONS = {
    "open": "open", "openat": "open", "creat": "open", "close": "close", "read": "read", "pread": "pread",
    "readv": "readv", "preadv": "preadv", "preadv2": "preadv", "write": "write", "pwrite": "pwrite",
    "writev": "writev", "pwritev": "pwritev", "pwritev2": "pwritev", "lseek": "lseek", "fsync": "fsync",
    "fdatasync": "fdatasync", "unlink": "unlink", "unlinkat": "unlink", "rename": "rename", "renameat": "rename",
    "renameat2": "rename", "mkdir": "mkdir", "mkdirat": "mkdir", "rmdir": "rmdir", "stat": "stat", "lstat": "stat",
    "fstat": "stat", "fstatat": "stat", "statx": "stat", "truncate": "truncate", "ftruncate": "truncate",
    "link": "link", "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "readlink": "readlink",
    "readlinkat": "readlink", "chmod": "chmod", "lchmod": "chmod", "fchmod": "chmod",
    "chown": "chown", "lchown": "chown", "fchown": "chown", "fchownat": "chown", "access": "access", "faccessat": "access", "copy_file_range": "copy_file_range",
    "fallocate": "fallocate", "posix_fallocate": "fallocate", "flock": "flock", "sync_file_range": "sync_file_range",
}  # fmt: skip
ABOUT_STAT = {"xstat": "stat", "lxstat": "stat", "fxstat": "stat", "fxstatat": "stat"}
MOVES_DATA = ("read", "pread", "readv", "preadv", "write", "pwrite", "writev", "pwritev")


def function_kind(symbol: str) -> str | None:
    """`__open64_2` and `open` are one kind; None for functions that do something else as well."""
    plain = re.sub(r"(_chk|_2)$", "", symbol.removeprefix("__libc_").lstrip("_"))
    plain = plain.replace("64v2", "v2").removesuffix("64")
    return FUNCTIONS.get(plain) or ABOUT_STAT.get(plain)


def available() -> bool:
    """Whether strace is here, can show stacks, and may trace."""
    if not shutil.which("strace"):
        return False
    return subprocess.run([*line("/dev/null"), "true"], capture_output=True).returncode == 0


def line(output, stacks: bool = True) -> list[str]:
    """What stands in front of a program. Without stacks nobody knows who made a call, but it takes a twentieth."""
    return ["strace", "-f", "--seccomp-bpf", "-y", *(["-k"] if stacks else []), "-s", "0", "-o", str(output), "-e", TRACED, "--"]


@dataclasses.dataclass
class Call:
    pid: int
    image: str  # last part of the program's name
    name: str
    kind: str | None
    file: str | None  # absolute, or what the kernel calls a descriptor without a name: pipe:[12]
    ret: int
    error: str | None
    stack: list[tuple[str, str]]  # object, symbol
    in_vfork: bool = False  # in a child of vfork before its exec

    @property
    def entry(self) -> str | None:
        """The function of libc that the program called; None: a raw system call, or the loader's own."""
        name = None
        for where, symbol in self.stack:
            if not re.match(r"libc(\.so|-)", where):
                break
            name = symbol
        return name

    @property
    def in_constructor(self) -> bool:
        """While the loader initialises the program's libraries: our own is not the first of them."""
        names = {symbol for _, symbol in self.stack}
        return self.stack[-1:] != [] and self.stack[-1][0].startswith("ld-linux") and "__libc_start_main" not in names

    @property
    def by_program(self) -> bool:
        return self.kind is not None and self.entry is not None and function_kind(self.entry) == self.kind


# ------------------------------------------------------------------------------------------------------------- parsing


@dataclasses.dataclass
class _Line:
    pid: int
    text: str  # `name(args) = result`
    stack: list[tuple[str, str]]


def _lines(text: str) -> list[_Line]:
    """Whole calls in the order in which they ended; halves that were printed apart are joined."""
    lines: list[_Line] = []
    begun: dict[int, str] = {}
    stack: list[tuple[str, str]] = []
    for raw in text.split("\n"):
        if raw.startswith(" > "):
            found = re.match(r" > (.*?)\((?:([^+)]*)(?:\+0x[0-9a-f]+)?)?\) \[0x[0-9a-f]+\]", raw)
            stack.append((found.group(1).rsplit("/", 1)[-1], found.group(2) or "") if found else (raw[3:], ""))
            continue
        found = re.match(r"(\d+) +(.*)", raw)
        if not found or found.group(2).startswith(("+++", "---")):
            stack = []
            continue
        pid, rest = int(found.group(1)), found.group(2)
        stack = []
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest.removesuffix("<unfinished ...>")
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        if resumed:
            rest = begun.pop(pid, "") + resumed.group(1)
        lines.append(_Line(pid, rest, stack))
    return lines


def _arguments(text: str) -> list[str]:
    """Splits at commas outside of quotes, brackets and <names of descriptors>."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char == '"':
            at = re.compile(r'(?:[^"\\]|\\.)*"').match(text, at + 1).end()
            continue
        if char == "<" and at > 0 and (text[at - 1].isdigit() or text[at - 1] == "D"):
            at = text.index(">", at) + 1
            continue
        depth += char in "({["
        depth -= char in ")}]"
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [*parts, text[start:].strip()]


def _unescape(text: str) -> str:
    simple = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", '"': '"', "\\": "\\"}

    def one(match) -> str:
        code = match.group(1)
        return simple[code] if code in simple else chr(int(code, 8))

    octal = re.sub(r"\\([0-7]{1,3}|.)", one, text)
    return octal.encode("latin-1", "surrogateescape").decode("utf-8", "surrogateescape") if "\\" in text else octal


def _descriptor(argument: str) -> str | None:
    found = re.fullmatch(r"(?:\d+|AT_FDCWD)<(.*)>(\(deleted\))?", argument)
    return re.sub(r" \(deleted\)$", "", _unescape(found.group(1))) if found else None


def _quoted(argument: str) -> str | None:
    found = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', argument)
    return _unescape(found.group(1)) if found else None


@dataclasses.dataclass
class _Process:
    cwd: str
    image: str = ""
    in_vfork: bool = False


def _file(arguments: list[str], process: _Process) -> str | None:
    """The file that a call is about: the path in its first or second argument, or its first argument's descriptor."""
    if not arguments:
        return None
    base, path = process.cwd, _quoted(arguments[0])
    if path is None:
        base = _descriptor(arguments[0])
        if arguments[0].startswith("AT_FDCWD"):
            base = base or process.cwd
        path = _quoted(arguments[1]) if len(arguments) > 1 else None
        if not path:  # "" with AT_EMPTY_PATH: the descriptor itself
            return base
    if path == "":
        return None
    if path.startswith("/"):
        return os.path.normpath(path)
    return os.path.normpath(f"{base}/{path}") if base else None


def _is_thread(text: str) -> bool:
    return "CLONE_THREAD" in text


def parse(text: str, cwd: str) -> list[Call]:
    lines = _lines(text)
    parents: dict[int, tuple[int, str]] = {}
    for line in lines:
        found = re.match(rf"({'|'.join(FORKS)})\(.*= (\d+)", line.text)
        if found:
            parents[int(found.group(2))] = (line.pid, line.text)
    processes: dict[int, _Process] = {}

    def process(pid: int) -> _Process:
        if pid in processes:
            return processes[pid]
        if pid not in parents:
            processes[pid] = _Process(cwd)
        else:
            parent, how = parents[pid]
            if _is_thread(how):
                processes[pid] = process(parent)
            else:
                old = process(parent)
                vfork = how.startswith("vfork") or "CLONE_VFORK" in how
                processes[pid] = _Process(old.cwd, old.image, vfork or old.in_vfork)
        return processes[pid]

    calls = []
    for line in lines:
        owner = process(line.pid)
        found = re.fullmatch(r"(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)(.*)", line.text)
        if not found:
            continue
        name, arguments = found.group(1), _arguments(found.group(2))
        ret = int(found.group(3), 0) if found.group(3) != "?" else -1
        error = re.match(r" (E[A-Z0-9]+)", found.group(4))
        file = _file(arguments, owner)
        if name == "symlink":
            target = _quoted(arguments[1])
            file = os.path.normpath(os.path.join(owner.cwd, target)) if target else None
        elif name == "symlinkat":
            file = _file(arguments[1:], owner)
        if name == "execve" and ret == 0:
            owner.image, owner.in_vfork = _quoted(arguments[0]).rsplit("/", 1)[-1], False
        elif name in ("chdir", "fchdir") and ret == 0:
            owner.cwd = file
        calls.append(
            Call(line.pid, owner.image, name, KINDS.get(name), file, ret, error.group(1) if error else None, line.stack, owner.in_vfork)
        )
    return calls
