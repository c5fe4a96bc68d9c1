"""The prose of a Markdown document: its paragraphs without code, and the sentences of a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator

FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", flags=re.DOTALL | re.MULTILINE)
NO_PROSE = re.compile(r"(?m)^(?:#.*|!\[.*|\$\$.*|===.*|<.*|(?:\||:?-)[-:| ]+)$")
INDENTED_CODE = re.compile(r"(?m)(?<=\n\n)(?: {4,}(?![-*\d]).*\n)+")
LIST_ITEM = re.compile(r"(?m)^ *(?:[-*]|\d+\.) +")
ONE_WORD = re.compile(r"`[^`]*`|\$[^$]*\$")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])[\"')*_]* +(?=[\"'(*_`]*(?:[A-Z0-9]|evenhand\b))")
ABBREVIATED = re.compile(r"\b(No|Art|Sec|e\.g|i\.e|etc|vs|approx|ff)\. ")


def paragraphs(document: str) -> Iterator[str]:
    """Paragraphs, list items and rows of tables, as written but without code."""
    text = NO_PROSE.sub("", INDENTED_CODE.sub("\n", FENCED.sub("", document)))
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith("|"):
            yield from (line for line in block.splitlines() if line.strip())
        else:
            yield from (item.strip() for item in LIST_ITEM.split(block) if item.strip())


def sentences(paragraph: str) -> Iterator[str]:
    """Sentences of a paragraph, or of each cell of a table's row; a code span or a formula is one word."""
    words = LINK.sub(r"\1", ONE_WORD.sub("Code", paragraph))
    cells = words.split("|") if words.lstrip().startswith("|") else [words]
    for cell in cells:
        joined = ABBREVIATED.sub(r"\1 ", " ".join(cell.split()))
        yield from (sentence for sentence in END_OF_SENTENCE.split(joined) if sentence)
