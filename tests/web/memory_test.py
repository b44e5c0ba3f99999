"""How much memory of a server lies in pools that only one thread uses."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="pools are those of glibc"
)

THREADS = """
import ctypes, sys, threading
from offdiag_web.wsgi import settle, share_memory

if sys.argv[1] == "shared":
    share_memory()
all_hold = threading.Barrier(9)

def hold():
    held = [bytes(3_000) for _ in range(100)]
    all_hold.wait()
    all_hold.wait()

threads = [threading.Thread(target=hold) for _ in range(8)]
for thread in threads:
    thread.start()
all_hold.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fclose.argtypes = [ctypes.c_void_p]
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
file = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
all_hold.wait()
settle()
"""


def n_pools(tmp_path: Path, how: str) -> int:
    told = tmp_path / how
    subprocess.run([sys.executable, "-c", THREADS, how, str(told)], check=True)
    return told.read_text(encoding="utf-8").count("<heap ")


def test_threads_of_a_server_share_two_pools(tmp_path: Path) -> None:
    assert n_pools(tmp_path, "as they are") > 2
    assert n_pools(tmp_path, "shared") <= 2
