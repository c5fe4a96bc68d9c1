"""The PostgreSQL that these tests run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text


def test_its_data_are_in_a_folder_of_their_own(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another pytest that starts meanwhile may close or clear away whatever lies in pytest's temporary folder."""
    engine = create_engine(postgresql)
    with engine.connect() as connection:
        folder = Path(str(connection.execute(text("SHOW data_directory")).scalar()))
    engine.dispose()
    assert not folder.resolve().is_relative_to(tmp_path_factory.getbasetemp().parent.resolve())
