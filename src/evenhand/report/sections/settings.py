"""What was decided under which settings: settings in force, changes, switches and overrides."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.report.content import NONE, Block, ReportSection, section, table, whole
from evenhand.report.period import minutes

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.figures import OverrideRecord, SettingsChange

SHOWN = 100
"""Maximum rows of a list; the JSON output has all."""


def settings_section(report: AuditReport) -> ReportSection:
    """Settings, their changes, and overrides."""
    figures = report.figures
    rows = [[name.replace("_", " "), _value(name, value)] for name, value in sorted(figures.settings.items())]
    under = [
        [whole(one.settings), one.code, "shadow" if one.shadow else "live", whole(one.decisions)]
        for one in figures.under
    ]
    blocks: list[Block | None] = [
        table("Settings at the end of the period", ["setting", "value"], rows, is_text=True),
        table(
            "Decisions by settings and version",
            ["settings of event", "version of evenhand", "mode", "decisions"],
            under,
        ),
        table(
            _caption("Changes of settings and switches", figures.changes),
            ["event", "time", "by", "change", "reason"],
            [_change(one) for one in figures.changes[-SHOWN:]],
            is_text=True,
        )
        or "Settings did not change in the period.",
        table(
            _caption("Overrides", figures.overrides),
            ["event", "time", "by", "decision", "drawn", "chosen instead", "reason"],
            [_override(one) for one in figures.overrides[-SHOWN:]],
            is_text=True,
        )
        or "No decision was overridden in the period.",
    ]
    return section("settings", "Settings, switches and overrides", blocks)


def _caption(what: str, records: Sequence[object]) -> str:
    return what if len(records) <= SHOWN else f"{what}: the newest {SHOWN} of {whole(len(records))}"


def _value(name: str, value: Any) -> str:
    if name == "schema" and value is not None:
        features = ", ".join(one["name"] for one in value["features"])
        carried = ", ".join(value.get("carry", ())) or "nothing"
        return f"features {features}; carried and never learned from: {carried}"
    if isinstance(value, Mapping):
        return "; ".join(f"{key.replace('_', ' ')}: {_value(key, one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or NONE
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)


def _change(one: SettingsChange) -> list[str]:
    words = {"opened": "desk opened", "switch": f"switched to {one.changes.get('mode')}"}
    changed = words.get(one.kind, json.dumps(one.changes, default=str))
    return [whole(one.seq), minutes(one.time), one.actor, changed, one.reason or NONE]


def _override(one: OverrideRecord) -> list[str]:
    names = (", ".join(one.drawn) or "nobody", ", ".join(one.chosen) or "nobody")
    return [whole(one.seq), minutes(one.time), one.actor, whole(one.number), *names, one.reason or NONE]
