"""An extension of the API reference: examples in docstrings become code blocks, as mkdocs.yml asks for."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?: *>>> .*\n?(?:.+\n?)*)", flags=re.MULTILINE)
"""From a prompt to the next empty line."""


def with_blocks(text: str) -> str:
    """The docstring with a fence around every example; Markdown would take its output for links.

    >>> print(with_blocks("One sentence.\\n\\n>>> 1 + 1\\n2\\n"))
    One sentence.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group().rstrip()}\n```\n", text)


class DoctestBlocks(griffe.Extension):
    """Fences the examples of every object that is loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Fence them as soon as the object is complete."""
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = with_blocks(obj.docstring.value)
