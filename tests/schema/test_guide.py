"""The guide's examples do what the guide says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "schema.md"


def test_the_examples_of_the_guide_run_as_printed() -> None:
    """Every python block of docs/schema.md is run, in order, and prints what is written there."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, GUIDE.name, str(GUIDE), 0)
    output: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=output.append)
    assert tried >= 15
    assert not failed, "".join(output)
