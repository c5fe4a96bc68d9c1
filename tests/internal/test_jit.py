"""The kernels' decorator: compiled once, kept where that is possible, and never in silence for long."""

from __future__ import annotations

import importlib.util
import logging
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from evenhand._internal import jit as module
from evenhand._internal.jit import CompilationLog, jit

SOURCE = """
from evenhand._internal.jit import jit

@jit
def helper(x, flag):
    return x + 1 if flag else x

@jit
def kernel(x):
    total = 0
    for i in range(3):
        total = helper(total, True)
    return helper(0, False) + total + x
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with two kernels, in a directory of its own, and a user's cache directory beside it."""
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "package" / "kernels.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


def _loaded(path: Path) -> ModuleType:
    """The module, as another process would load it."""
    spec = importlib.util.spec_from_file_location("kernels_for_tests", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def _read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Refuse writing below a folder as a read-only file system does, also to root."""
    temporary, access = tempfile.TemporaryFile, os.access

    def refused(*arguments: Any, **settings: Any) -> Any:
        if str(settings.get("dir")).startswith(str(folder)):
            raise OSError(30, "Read-only file system")
        return temporary(*arguments, **settings)

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(str(folder)) and access(path, mode))


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")}


def test_a_kernel_is_compiled_once(source: Path) -> None:
    """For all literals passed to it, and for all processes that share the cache beside the source."""
    first = _loaded(source)
    assert first.kernel(2) == 5
    assert len(first.helper.signatures) == 1
    again = _loaded(source)
    assert again.kernel(2) == 5
    assert again.kernel.stats.cache_hits.total() == 1
    assert again.kernel.stats.cache_misses.total() == 0


def test_a_cache_filled_in_advance_is_used_where_it_is_read_only(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an image: nothing that was compiled before is compiled again, and what is missing is not written there."""
    _loaded(source).kernel(2)
    files = _files(source.parent)
    assert files
    with monkeypatch.context() as patch:
        _read_only(patch, source.parent)
        loaded = _loaded(source)
        assert loaded.kernel(2) == 5
        assert loaded.kernel.stats.cache_hits.total() == 1
        assert loaded.kernel(0.5) == 3.5  # not there yet
    assert _files(source.parent) == files


def test_without_a_cache_beside_the_source_the_user_s_is_used(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that was installed read-only and never warmed up is compiled once for each user."""
    _read_only(monkeypatch, source.parent)
    (source.parent / "__pycache__").mkdir(exist_ok=True)
    assert _loaded(source).kernel(2) == 5
    assert not _files(source.parent)
    again = _loaded(source)
    assert again.kernel(2) == 5
    assert again.kernel.stats.cache_hits.total() == 1
    assert str(source.parent.parent / "cache") in again.kernel.stats.cache_path


def test_a_function_without_a_file_is_compiled_all_the_same() -> None:
    """As in a notebook or at the prompt: there is nowhere to keep it."""
    space: dict[str, Any] = {"jit": jit}
    exec("def double(x):\n    return 2 * x\n", space)
    assert jit(space["double"])(4) == 8


class _Kernel:
    def py_func(self) -> None:
        """Ours, by its module."""


@pytest.mark.parametrize(
    ("owner", "patience", "count"), [("evenhand.x", 0.0, 1), ("evenhand.x", 60.0, 0), ("y", 0.0, 0)]
)
def test_long_compilations_are_logged_once(
    owner: str, patience: float, count: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once per process, only when it takes long, and not for somebody else's kernels."""

    class Compiled:
        data: ClassVar = {"dispatcher": _Kernel()}

    monkeypatch.setattr(_Kernel.py_func, "__module__", owner)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", patience)
    listener = CompilationLog()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            listener.on_start(Compiled)
            listener.on_start(Compiled)
            listener.on_end(Compiled)
            listener.on_end(Compiled)
    assert caplog.messages == [module.COMPILING] * count


def test_another_process_does_not_say_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first one leaves a mark beside the kernels; where that cannot be made, every process says it."""

    class Compiled:
        data: ClassVar = {"dispatcher": _Kernel()}

    monkeypatch.setattr(_Kernel.py_func, "__module__", "evenhand.x")
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    with caplog.at_level(logging.INFO):
        for marker, count in ((tmp_path / "said", 1), (tmp_path / "nowhere" / "said", 2)):
            caplog.clear()
            for listener in (CompilationLog(marker), CompilationLog(marker)):
                listener.on_start(Compiled)
                listener.on_end(Compiled)
            assert caplog.messages == [module.COMPILING] * count
