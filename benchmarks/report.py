"""What a run leaves behind: results.json, table.md, ratios.png, in one folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from benchmarks.machine import surroundings
from benchmarks.measurement import Measurement, Size
from benchmarks.table import markdown

RESULTS, TABLE, FIGURE = "results.json", "table.md", "ratios.png"


@dataclass
class Report:
    """The measurements of one run and where they were made."""

    folder: Path
    surroundings: dict[str, Any]
    measurements: list[Measurement] = field(default_factory=list)
    interrupted: bool = False

    @classmethod
    def begun(cls, folder: Path, size: Size) -> Self:
        """An empty report of a run that begins now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(folder, {"begun": now, "size": size.value, **surroundings()})

    @classmethod
    def read(cls, path: Path) -> Self:
        """The report that was written as this results.json."""
        content = json.loads(path.read_text())
        lines = [Measurement.from_dict(record) for record in content.pop("measurements")]
        interrupted = content.pop("interrupted")
        return cls(path.parent, content, lines, interrupted)

    def add(self, lines: list[Measurement]) -> None:
        """Keep what was measured, on disk at once: whatever happens later, it is there."""
        self.measurements.extend(lines)
        self._write_json()

    def markdown(self) -> str:
        """The tables, with a line on where and when."""
        return markdown(self.measurements, self.surroundings, interrupted=self.interrupted)

    def write(self) -> list[str]:
        """Write all three files; their names. Without measurements there is no figure."""
        self._write_json()
        (self.folder / TABLE).write_text(self.markdown())
        if not any(line.ratio is not None for line in self.measurements):
            return [RESULTS, TABLE]
        from benchmarks.figure import draw  # matplotlib takes a second to load

        draw(self.measurements, self.folder / FIGURE)
        return [RESULTS, TABLE, FIGURE]

    def _write_json(self) -> None:
        """Into a new file first, so that an interrupt leaves either the old or the new one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {
            **self.surroundings,
            "interrupted": self.interrupted,
            "measurements": [line.to_dict() for line in self.measurements],
        }
        new = self.folder / f"{RESULTS}.new"
        new.write_text(json.dumps(content, indent=1) + "\n")
        os.replace(new, self.folder / RESULTS)
