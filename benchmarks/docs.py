"""Put a run's tables and its figure into docs/benchmarks.md: `python -m benchmarks.docs [results.json]`."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from benchmarks.report import FIGURE, RESULTS, Report

ROOT = Path(__file__).parent.parent
PAGE, PICTURE = ROOT / "docs/benchmarks.md", ROOT / "docs/figures/benchmarks.png"
BEGIN, END = "<!-- results: written by python -m benchmarks.docs -->", "<!-- end of results -->"


def refreshed(page: str, report: Report, picture: str) -> str:
    """The page with what stands between the two marks replaced by the report's tables and a link to the picture."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks the marks {BEGIN!r} and {END!r}; results stand between them")
    figure = f"![How many times as long as evenhand each peer takes]({picture})"
    return f"{before}{BEGIN}\n\n{figure}\n\n{report.markdown()}\n{END}{after}"


def main(arguments: list[str] | None = None) -> None:
    """Rewrite the section and copy the figure."""
    parser = argparse.ArgumentParser(description="Put a run's tables and figure into docs/benchmarks.md.")
    parser.add_argument("results", nargs="?", type=Path, default=Path("build/benchmarks") / RESULTS)
    results = parser.parse_args(arguments).results
    PAGE.write_text(refreshed(PAGE.read_text(), Report.read(results), f"figures/{PICTURE.name}"))
    shutil.copy(results.parent / FIGURE, PICTURE)
    print(f"refreshed {PAGE.name} and {PICTURE.name}")


if __name__ == "__main__":
    main()
