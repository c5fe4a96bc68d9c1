"""Data frames of any library: pandas, polars, Arrow tables, and whatever exports itself to Arrow.

This is the one place that knows how these libraries differ. None of them is imported before somebody passes its frame.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evenhand.errors import InvalidInput, MissingExtra

ARROW_EXPORTS = ("__arrow_c_stream__", "__arrow_c_array__")
"""The methods of the Arrow PyCapsule interface, by which libraries exchange tables without knowing each other."""

FILES = {".parquet": "read_parquet", ".pq": "read_parquet", ".arrow": "read_ipc", ".feather": "read_ipc"}
"""Files of whole frames, by their ending, and polars' function that reads them."""


class Frame(Protocol):
    """What pandas, polars and Arrow tables have in common."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __len__(self) -> int: ...


class ArrowStream(Protocol):
    """A table that exports itself to Arrow, such as a query's result in DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class FrameTable(ABC):
    """A data frame, whatever its library: names of columns, columns as lists, rows as dicts."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return len(self.frame)

    @property
    @abstractmethod
    def names(self) -> list[Any]:
        """The names of the columns, in order."""

    @property
    def labels(self) -> tuple[str, ...]:
        """A label for each row: its number, or pandas' index."""
        return tuple(map(str, range(len(self))))

    @abstractmethod
    def column(self, name: Any) -> list[Any]:
        """The values of the column of this name, which must be there once."""

    def levels(self, name: Any) -> list[Any] | None:
        """The levels of a column whose type says that they are ordered, lowest first; None of any other."""
        return None

    def is_category(self, name: Any) -> bool:
        """Whether a column's type says that its values are levels."""
        return False

    @abstractmethod
    def array(self) -> Any:
        """All values, (rows, columns)."""

    def rows(self) -> list[dict[Any, Any]]:
        """Every row as a dict."""
        columns = [self.column(name) for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]


class NamedFrame(FrameTable):
    """A frame of pandas or polars, or of a library with their interface."""

    @property
    def names(self) -> list[Any]:
        return list(self.frame.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(map(str, getattr(self.frame, "index", range(len(self)))))

    def column(self, name: Any) -> list[Any]:
        column = self.frame[name]
        return _with_texts(column.to_list(), getattr(column, "dtype", None))

    def levels(self, name: Any) -> list[Any] | None:
        dtype = self.frame[name].dtype
        is_ordered = getattr(dtype, "ordered", False) is True  # by pandas
        return _with_texts(dtype.categories.to_list(), dtype) if is_ordered else None

    def is_category(self, name: Any) -> bool:
        return str(self.frame[name].dtype) == "category"  # by pandas

    def array(self) -> Any:
        return self.frame.to_numpy()


def _with_texts(values: list[Any], dtype: Any) -> list[Any]:
    """Values of pandas, intervals such as those of `pandas.cut` and periods as their texts."""
    kind = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    if not str(kind).startswith(("interval", "period")):
        return list(values)
    return [str(value) if type(value).__name__ in ("Interval", "Period") else value for value in values]


class ArrowTable(FrameTable):
    """A table or record batch of pyarrow."""

    @property
    def names(self) -> list[Any]:
        return list(self.frame.schema.names)

    def __len__(self) -> int:
        return int(self.frame.num_rows)

    def column(self, name: Any) -> list[Any]:
        return list(self._column(name).to_pylist())

    def levels(self, name: Any) -> list[Any] | None:
        if getattr(self._column(name).type, "ordered", False) is not True:
            return None
        chunks = [chunk.dictionary.to_pylist() for chunk in getattr(self._column(name), "chunks", [self._column(name)])]
        return list(dict.fromkeys(level for chunk in chunks for level in chunk))

    def is_category(self, name: Any) -> bool:
        return str(self._column(name).type).startswith("dictionary")

    def array(self) -> Any:
        if not self.names:
            return np.empty((len(self), 0))
        columns = [self._column(name).to_numpy(zero_copy_only=False) for name in range(len(self.names))]
        return np.column_stack(columns)

    def _column(self, name: str | int) -> Any:
        return self.frame.column(name)


class ColumnTable(FrameTable):
    """Columns as lists of values, by name, all of one length."""

    @property
    def names(self) -> list[Any]:
        return list(self.frame)

    def __len__(self) -> int:
        return len(next(iter(self.frame.values()), ()))

    def column(self, name: Any) -> list[Any]:
        return list(self.frame[name])

    def array(self) -> Any:
        return np.array(list(self.frame.values())).T


def as_frame(value: Any, what: str = "a table") -> FrameTable | None:
    """`value` as a table if it is a data frame of any library; None if it is none.

    A stream is read, which can be done once. `what` names the value in errors.

    >>> import polars
    >>> table = as_frame(polars.DataFrame({"age": [31, 40]}))
    >>> table.names, table.column("age"), table.rows()[0]
    (['age'], [31, 40], {'age': 31})
    >>> as_frame([[31], [40]]) is None
    True
    """
    kind = type(value)
    if kind is np.ndarray or kind in (list, tuple):  # the common cases first
        return None
    if isinstance(value, FrameTable):
        return value
    if hasattr(kind, "columns") and hasattr(kind, "collect"):
        raise InvalidInput(f"{what} must be an eager frame, got a lazy one; call its collect() first")
    if hasattr(kind, "columns") and hasattr(kind, "to_numpy") and hasattr(kind, "__getitem__"):
        return NamedFrame(value)
    if hasattr(kind, "num_rows") and hasattr(kind, "schema") and hasattr(kind, "column"):
        return ArrowTable(value)
    is_column = hasattr(kind, "to_list") or hasattr(kind, "to_pylist")
    if not is_column and any(hasattr(kind, export) for export in ARROW_EXPORTS):
        return _from_arrow(value, what)
    return None


def _from_arrow(value: Any, what: str) -> FrameTable:
    """The table that another library exports, by polars or pyarrow, whichever is there."""
    try:
        import polars

        return NamedFrame(polars.DataFrame(value))
    except ModuleNotFoundError:
        pass
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise MissingExtra(f"{what} of class {type(value).__name__} needs polars or pyarrow to be read") from None
    return ArrowTable(pyarrow.table(value))


def read_frame_file(path: str | os.PathLike[str]) -> FrameTable | None:
    """The table in a Parquet, Arrow or Feather file, known by its ending; None for any other file."""
    function = FILES.get(Path(path).suffix.lower())
    if function is None:
        return None
    try:
        import polars
    except ModuleNotFoundError:
        raise MissingExtra(f"{os.fspath(path)} needs polars to be read; pip install 'evenhand[frames]'") from None
    try:
        return NamedFrame(getattr(polars, function)(path))
    except (OSError, polars.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{os.fspath(path)} cannot be read as {Path(path).suffix[1:]}: {reason}") from None
