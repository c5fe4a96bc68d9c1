"""A ledger goes out as lines and comes in as a warm start."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature

from evenhand.desk import Desk
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import replay
from evenhand.errors import DamagedLedger
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import signing_key
from evenhand.ledger.verify import from_line, to_jsonl, verify_lines
from tests.support.desk_play import QUICK, D, play
from tests.support.ledger_command import run
from tests.support.tampering import tampered


def test_a_dozen_lines_verify_an_exported_ledger(played: Desk) -> None:
    """Whoever has the file needs nothing of ours: JSON and SHA-256."""
    previous = "0" * 64
    for number, line in enumerate(to_jsonl(played.ledger, played.name), start=1):
        text, _, hashes = line.rpartition(',"previous":')
        reported = json.loads('{"previous":' + hashes)
        assert reported["previous"] == previous
        previous = hashlib.sha256((previous + text + "}").encode()).hexdigest()
        assert reported["hash"] == previous
        assert json.loads(line)["seq"] == number
    assert previous == played.head.hash


def test_the_guide_verifies_without_us(played: Desk, tmp_path: Path) -> None:
    """The functions in the guide find heads that fit, and a rewritten or shortened file, with nothing of ours."""
    guide = (Path(__file__).parents[2] / "docs" / "verify.md").read_text(encoding="utf-8")
    (block,) = [one for one in re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL) if "def verify(" in one]
    assert "evenhand." not in block
    names: dict[str, Any] = {}
    exec(block, names)
    heads, key = SignedHeads(played.ledger), signing_key(played.ledger)
    signed = [heads.sign(played.name, key)]
    play(played, 1)
    signed.append(heads.sign(played.name, key))
    stated = [head.to_dict() for head in signed if head is not None]
    lines, file = list(to_jsonl(played.ledger, played.name)), tmp_path / "ledger.jsonl"
    file.write_text("\n".join(lines) + "\n")
    assert names["verify"](file) == names["verify"](file, *stated) == played.head.hash
    for head in stated:
        names["check_signature"](head)
        with pytest.raises(InvalidSignature):
            names["check_signature"]({**head, "size": head["size"] + 1})
    file.write_text("\n".join(lines[:-1]) + "\n")
    names["verify"](file, stated[0])
    with pytest.raises(AssertionError, match="the file ends at line"):
        names["verify"](file, *stated)
    file.write_text("\n".join(_rechained(lines)) + "\n")
    names["verify"](file)
    with pytest.raises(AssertionError, match="are not those signed"):
        names["verify"](file, stated[0])


def _rechained(lines: list[str]) -> list[str]:
    """The same lines, the second one changed, and all of them chained again."""
    previous, found = "0" * 64, []
    for number, line in enumerate(lines):
        text = line.rpartition(',"previous":')[0] + "}"
        text = text.replace("person 0", "person O") if number == 1 else text
        own = hashlib.sha256((previous + text).encode()).hexdigest()
        _, mark, contents = line.rpartition(',"contents":')
        end = mark + contents if mark else "}"
        found.append(f'{text[:-1]},"previous":"{previous}","hash":"{own}"{end}')
        previous = own
    return found


def test_lines_come_back_as_events(played: Desk) -> None:
    """What was exported reads back; a changed line is found."""
    lines = list(to_jsonl(played.ledger, played.name))
    assert [from_line(line + "\n") for line in lines] == played.events()
    assert verify_lines(lines).hash == played.head.hash
    changed = lines[1].replace("person 0", "person O")
    for wrong in (lines[1:], [*lines[:3], *lines[4:]], [lines[0], changed], [], ["{}"]):
        with pytest.raises(DamagedLedger):
            verify_lines(wrong)


def test_an_imported_ledger_teaches_what_it_taught(played: Desk, tmp_path: Path) -> None:
    """A new desk with the lines of another knows the same of rewards, and has the same verdicts to learn from."""
    file = tmp_path / "past.jsonl"
    file.write_text("\n".join(to_jsonl(played.ledger, played.name)))
    with Desk.open(played.ledger, played.name + "-anew", **QUICK, seed=2) as desk:
        reported = import_jsonl(desk, file)
        assert reported.refused == []
        desk.catch_up(wait=True)
        old, new = played.projection.bandit, desk.projection.bandit
        assert new.rounds == 0
        assert np.allclose(new.reward.estimate(np.eye(D)), old.reward.estimate(np.eye(D)))
        assert not np.allclose(new.metric.matrix(), desk.settings.first_bandit().metric.matrix())
        seq = desk.head.seq
        again = import_jsonl(desk, file)
        assert (again.added, again.known) == (0, reported.added)
        assert desk.head.seq == seq
        play(desk, 2)
        assert replay(desk.ledger, desk.name).is_same


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """verify, replay, export, and verify of what was exported; what was asked wrongly ends with status 2."""
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "lines.jsonl"
    with Desk.open(url, "loans", **QUICK, seed=1) as desk:
        play(desk, 3)
        head = desk.head
    assert run("verify", "loans", "--database", url, "--known", f"{head.seq}:{head.hash}") == 0
    assert run("replay", "loans", "--data", str(tmp_path)) == 0
    assert run("export", "loans", "--database", url, "--output", str(file)) == 0
    assert run("export", "loans", "--database", url, "--format", "dsjson") == 0
    assert run("verify", str(file)) == 0
    reported = capsys.readouterr().out
    assert f"{head.seq}:{head.hash}" in reported
    assert "the same to the bit" in reported
    assert run("verify", "nobody", "--database", url) == 2
    assert run("verify", "loans", "--database", url, "--known", "nonsense") == 2
    assert run("verify", "loans", "--data", str(tmp_path / "nowhere")) == 2


def test_an_exported_file_is_compared_with_a_noted_line(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines cut off its end, or written anew, are found as in a database; a file that is no text is refused as such."""
    file = tmp_path / "lines.jsonl"
    assert run("export", "loans", "--data", str(tmp_path), "--output", str(file)) == 0
    lines = file.read_text().splitlines(keepends=True)
    last = from_line(lines[-1])
    assert run("verify", str(file), "--known", f"{last.seq}:{last.hash}") == 0
    assert run("verify", str(file), "--known", f"{last.seq - 1}:{last.previous}") == 0
    assert run("verify", str(file), "--known", f"{last.seq}:{last.previous}") == 1
    assert run("verify", str(file), "--known", "nonsense") == 2
    file.write_text("".join(lines[:-3]))
    assert run("verify", str(file)) == 0
    capsys.readouterr()
    assert run("verify", str(file), "--known", f"{last.seq}:{last.hash}") == 1
    assert capsys.readouterr().err == f"the file ends at line {last.seq - 3}; line {last.seq} was noted before\n"
    file.write_bytes(b"\xff" + file.read_bytes())
    assert run("verify", str(file)) == 1
    assert "not UTF-8" in capsys.readouterr().err


def test_a_verdict_is_a_sentence_of_its_own(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged ledger ends verify and replay with status 1 and one sentence, without a word about usage."""
    file = tmp_path / "lines.jsonl"
    assert run("export", "loans", "--data", str(tmp_path), "--output", str(file)) == 0
    file.write_text(file.read_text().replace("person 0", "person O"))
    tampered(path, "UPDATE events SET text = replace(text, 'person 0', 'person O') WHERE seq = 2")
    capsys.readouterr()
    for command in (["verify", str(file)], ["verify", "loans", "--data", str(tmp_path)]):
        assert run(*command) == 1
        stated = capsys.readouterr()
        assert stated.out == ""
        assert stated.err.startswith(("line 2 ", "event 2 "))
        assert stated.err.count("\n") == 1
    assert run("replay", "loans", "--data", str(tmp_path)) == 1
    assert capsys.readouterr().err.startswith("event 2 of desk 'loans' was changed")
