"""Guides are easy to read: no sentence has more than 35 words, and no paragraph more than 6 lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.prose import paragraphs, sentences

ROOT = Path(__file__).parent.parent
MOST_WORDS = 35
MOST_LINES = 6
NO_GUIDES = {"mathematics", "theory"}
"""Proofs. Decisions are records."""

GUIDES = sorted(
    [
        *(path for path in ROOT.glob("*.md") if path.stem not in NO_GUIDES),
        *(path for path in ROOT.glob("docs/*.md") if path.stem not in NO_GUIDES),
        *ROOT.glob("docs/tutorials/*"),
    ]
)


def _prose(guide: Path) -> str:
    """The text of a document; of a tutorial its cells of prose."""
    if guide.suffix != ".py":
        return guide.read_text()
    cells = re.findall(r"(?m)^# %% \[markdown\]\n((?:#.*\n)+)", guide.read_text())
    return "\n\n".join(re.sub(r"(?m)^# ?", "", cell) for cell in cells)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_a_guide_is_easy_to_read(guide: Path) -> None:
    """No sentence is long, and no paragraph; cells of tables and items of lists count as paragraphs."""
    found = list(paragraphs(_prose(guide)))
    assert found
    assert [s for p in found for s in sentences(p) if len(s.split()) > MOST_WORDS] == []
    assert [p for p in found if len(p.splitlines()) > MOST_LINES] == []


def test_what_is_long_is_found() -> None:
    """A long sentence is found in a paragraph, a list and a table, a long paragraph in a list; code is no prose."""
    long = " ".join(["Word"] * 36) + "."
    document = f"Short. {long}\n\n- item\n- {long}\n\n| a | b |\n|---|---|\n| c | {long} Short. |\n\n```\n{long}\n```\n"
    found = [s for p in paragraphs(document) for s in sentences(p) if len(s.split()) > MOST_WORDS]
    assert found == [long, long, long]
    assert max(len(p.splitlines()) for p in paragraphs("- one\n- " + "two\n  " * 7)) == 7
