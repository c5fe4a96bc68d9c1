"""What the threads of a service free can be used by all of them, and linear algebra has one thread."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

THREADS, PIECES, SIZE = 16, 400, 50_000

CHILD = f"""
import threading
from evenhand.service.serve import prepare_process

prepare_process()
kept, over = [], threading.Event()

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

def work(done):
    used = [bytearray(b"x" * {SIZE}) for _ in range({PIECES})]
    kept.append(bytearray(b"x" * {SIZE}))  # the top of an arena goes back to the system, not what is below it
    del used
    done.set()
    over.wait()

before = resident()
for _ in range({THREADS}):
    done = threading.Event()
    threading.Thread(target=work, args=(done,)).start()
    done.wait()
print(resident() - before)
over.set()
"""


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_what_a_thread_has_freed_another_one_uses() -> None:
    """Sixteen threads that use 20 MB one after the other take the memory of a few, not of sixteen."""
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=300, check=True)
    of_one = PIECES * SIZE // 1024
    assert int(done.stdout) < 4 * of_one


BLAS_THREADS = """
from threadpoolctl import threadpool_info
from evenhand.service.serve import prepare_process

prepare_process()
print({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} <= {1})
"""


@pytest.mark.process
def test_linear_algebra_of_a_service_has_one_thread() -> None:
    """All its libraries are loaded by then, and none takes a second processor, whatever the environment asks for."""
    asked = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    done = subprocess.run(
        [sys.executable, "-c", BLAS_THREADS],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, **asked},
    )
    assert done.stdout.split() == ["True"]
