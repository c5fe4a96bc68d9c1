"""The files for operators: they name settings, commands and metrics that exist, and no secret is in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.cli.main import main
from evenhand.service.settings import ServiceSettings
from tests.support.running_service import Asking

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
ALERTS = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text(encoding="utf-8"))
FILES = ("Dockerfile", "compose.yaml", "deploy/example.env", "deploy/evenhand.service", "deploy/Caddyfile")


@pytest.mark.parametrize("name", FILES)
def test_every_setting_exists(name: str) -> None:
    """A misspelt variable would be ignored in silence."""
    known = {f"EVENHAND_{entry.name.upper()}" for entry in fields(ServiceSettings)}
    assert set(re.findall(r"EVENHAND_[A-Z_]+", (ROOT / name).read_text(encoding="utf-8"))) <= known


def _commands() -> list[list[str]]:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (started,) = re.findall(r'^CMD \["evenhand", (.*)\]$', dockerfile, flags=re.MULTILINE)
    unit = (ROOT / "deploy" / "evenhand.service").read_text(encoding="utf-8")
    (executed,) = re.findall(r"^ExecStart=\S+ (.*)$", unit, flags=re.MULTILINE)
    composed = [service["command"][1:] for service in COMPOSE["services"].values() if "command" in service]
    return [yaml.safe_load(f"[{started}]"), shlex.split(executed), *composed]


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_every_command_is_understood(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """All options of the commands are options of ours."""
    with pytest.raises(SystemExit):
        main([command[0], "--help"])
    shown = capsys.readouterr().out
    assert all(option in shown for option in command if option.startswith("--"))


def _variables(value: Any) -> set[str]:
    return set(re.findall(r"\$\{([A-Z_]+)", str(value)))


def test_compose_asks_for_every_secret_and_holds_none() -> None:
    """What is filled in comes from .env, whose example names all of it and has no value but the domain's."""
    lines = (ROOT / "deploy" / "example.env").read_text(encoding="utf-8").splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert _variables(COMPOSE) == set(example)
    assert [name for name, value in example.items() if value] == ["DOMAIN"]
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("TOKEN|KEY|PASSWORD", name):
                assert re.fullmatch(r"\$\{[A-Z_]+:\?fill in \.env\}", value), name


def test_alerts_are_about_metrics_that_exist(ask: Asking) -> None:
    """Each name, and each operation, is one that /metrics has after a decision."""
    ask.decide()
    text = ask("GET", "/metrics").text
    expressions = [rule["expr"] for group in ALERTS["groups"] for rule in group["rules"]]
    names = set(re.findall(r"evenhand_[a-z_]+", " ".join(expressions)))
    assert {"evenhand_requests_total", "evenhand_request_seconds_bucket"} <= names
    assert all(re.search(rf"^{name}[{{ ]", text, flags=re.MULTILINE) for name in names)
    operations = set(re.findall(r'operation="([a-z_]+)"', " ".join(expressions)))
    assert operations
    assert all(f'operation="{operation}"' in text for operation in operations)
