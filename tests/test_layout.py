"""The layout of the source: rooms few enough to see, files short enough to read, names that mean one thing."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "evenhand"
FILES = sorted(SOURCE.rglob("*.py"))


def test_folders_hold_few_modules() -> None:
    """No folder has more than 25 modules."""
    sizes = Counter(path.parent for path in FILES)
    assert {str(folder): n for folder, n in sizes.items() if n > 25} == {}


def test_files_are_short() -> None:
    """No file has more than 400 lines."""
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: n for path, n in lengths.items() if n > 400} == {}


def test_a_class_name_means_one_thing() -> None:
    """No two modules define a class of the same name."""
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, n in names.items() if n > 1] == []
