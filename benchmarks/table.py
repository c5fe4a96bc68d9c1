"""Measurements as Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.measurement import Measurement

TITLES = {
    "allocation": "The fair allocation alone",
    "allocation-sweep": "The fair allocation against HiGHS, by the number of candidates",
    "rounds": "A whole round, and a decision",
    "long-run": "A round after many rounds",
    "metrics": "Learning a metric from pairs",
    "start": "Starting",
}

HEADER = ["work", "peer", "evenhand", "peer takes", "ratio", "goal", "reached", "note"]

PACKAGES = (
    *("evenhand", "numpy", "scipy", "numba", "highspy", "cvxpy", "clarabel"),
    *("vowpalwabbit", "coba", "mabwiser", "river", "metric-learn", "scikit-learn"),
)
"""Whose versions the line below the tables names; results.json has all."""


def markdown(lines: list[Measurement], where: dict[str, Any], *, interrupted: bool) -> str:
    """All tables, one for each part, and a line that says where they come from."""
    parts = [part for part in TITLES if any(line.part == part for line in lines)]
    text = [f"### {TITLES[part]}\n\n{_table([line for line in lines if line.part == part])}" for part in parts]
    if interrupted:
        text.append("The run was interrupted: what is missing was not measured.")
    return "\n\n".join([*text, provenance(where)]) + "\n"


def provenance(where: dict[str, Any]) -> str:
    """Machine, versions and commit, as a table."""
    machine, versions = where["machine"], where["versions"]
    named = ", ".join(f"{name} {versions[name]}" for name in PACKAGES if name in versions)
    busy = "" if machine["load"] is None else f" with a load of {machine['load']:.1f} at the start"
    rows = {
        "run": f"size {where['size']}, {where['begun']}, commit {where['commit'] or 'unknown'}",
        "machine": f"{machine['cpu']}, {machine['cores']} cores{busy}, {machine['python']}, {machine['system']}",
        "versions": named,
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {words} |" for name, words in rows.items())])


def _table(lines: list[Measurement]) -> str:
    if any(line.along is not None for line in lines):
        return _sweep(lines)
    rows = [_row(line) for line in lines]
    used = [column for column in range(len(HEADER)) if any(row[column] for row in rows)]
    return _drawn([[row[column] for column in used] for row in (HEADER, *rows)])


def _sweep(lines: list[Measurement]) -> str:
    """The ratio by candidates, a column for each work; what misses the goal is bold."""
    works = list(dict.fromkeys(line.work for line in lines))
    by_place = {(line.along, line.work): line for line in lines}
    table = [["k", *works]]
    for along in sorted({line.along for line in lines if line.along is not None}):
        table.append([f"{along:.0f}", *(_cell(by_place.get((along, work))) for work in works)])
    measured = [line for line in lines if line.ratio is not None]
    reached = sum(line.met is True for line in measured)
    lowest = min((line.ratio for line in measured if line.ratio is not None), default=0.0)
    summary = (
        f"The ratio to HiGHS in its fastest use: at least 1 in {reached} of {len(measured)}; lowest {digits(lowest)}."
    )
    return f"{_drawn(table)}\n\n{summary}"


def _cell(line: Measurement | None) -> str:
    if line is None or line.ratio is None:
        return ""
    text = f"{'>' if line.stopped else ''}{digits(line.ratio)}"
    return f"**{text}**" if line.met is False else text


def _drawn(table: list[list[str]]) -> str:
    ruled = [table[0], ["---"] * len(table[0]), *table[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)


def _row(line: Measurement) -> list[str]:
    more = ">" if line.stopped else ""
    ratio = ""
    if line.ratio is not None and line.low is not None and line.high is not None:
        ratio = f"{more}{digits(line.ratio)} ({digits(line.low)} to {digits(line.high)})"
    met = {None: "", True: "yes", False: "**no**"}[line.met]
    return [
        line.work,
        line.peer,
        seconds(line.ours),
        f"{more}{seconds(line.theirs)}",
        ratio,
        "" if line.goal is None else f"≥ {digits(line.goal)}",
        met,
        line.note,
    ]


def digits(value: float) -> str:
    """Three digits, no exponent: 0.0123, 1.23, 123, 12300."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):.0f}"
    return f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it."""
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value / 1e-9)} ns"
