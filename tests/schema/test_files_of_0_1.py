"""A schema that version 0.1 saved: it loads with the same digest, and encodes as 0.1 did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from evenhand.schema import Schema

FILES = Path(__file__).parents[1] / "data" / "v0_1" / "schemas"


def test_a_schema_of_0_1_encodes_as_it_did(tmp_path: Path) -> None:
    """Loaded, and saved and loaded again."""
    expected = json.loads((FILES / "loans_expected.json").read_text())
    Schema.load(FILES / "loans.json").save(tmp_path / "again.json")
    for path in (FILES / "loans.json", tmp_path / "again.json"):
        schema = Schema.load(path)
        assert schema.digest == expected["digest"]
        np.testing.assert_array_equal(schema.encode([expected["row"]])[0], expected["context"])
