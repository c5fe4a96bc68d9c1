"""Somebody who owns the database: rewrites events, and recomputes every hash, head, tile and signature to fit."""

from __future__ import annotations

import json
import shutil
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import numpy as np

from evenhand.ledger._person_keys import PersonKeys, _split
from evenhand.ledger.event import FIRST, canonical, chained, new_id
from evenhand.ledger.ledger import SERVICE
from evenhand.ledger.merkle import leaf_hash, nodes_of, root
from evenhand.ledger.signed_head import SignedHead, SigningKey

TRIGGERS = ("events_no_update", "events_no_delete", "signed_heads_no_update", "signed_heads_no_delete")
COLUMNS = "id, kind, target, number, undoes, key, fingerprint, contents, text"
Content = dict[str, Any]
Line = tuple[list[Any], Content]
"""The columns of an event but the text, contents as they are when decrypted, and its content."""


class Owner:
    """Works on a closed SQLite file; what was changed is made to fit when the block ends."""

    def __init__(self, file: Path, rng: np.random.Generator) -> None:
        self.file, self.rng = file, rng
        self._database = sqlite3.connect(file)
        self.run = self._database.execute
        self.run("PRAGMA synchronous = OFF")
        for trigger in TRIGGERS:
            self.run(f"DROP TRIGGER IF EXISTS {trigger}")
        names = [name for (name,) in self.run("SELECT name FROM desks").fetchall()]
        self.lines = {name: self._read(name) for name in names}
        self.signs_again = True
        """Whether stored heads are signed again, or dropped."""
        self.earlier = timedelta()
        """By how much heads are backdated."""
        self.key = SigningKey(self.run("SELECT key FROM service_keys WHERE name = 'signing'").fetchone()[0])

    def _read(self, desk: str) -> list[Line]:
        found = self.run(f"SELECT {COLUMNS} FROM events WHERE desk = ? ORDER BY seq", (desk,)).fetchall()
        keys, lines = PersonKeys(self.run, desk), list[Line]()
        for seq, (*columns, blob, text) in enumerate(found, start=1):
            (contents,) = keys.decrypted([(seq, blob)]) if blob is not None else ((),)
            people = [people for people, _ in _split(blob)] if blob is not None else []
            opened = tuple(one and one._replace(of=of) for one, of in zip(contents, people, strict=True))
            lines.append(([*columns, opened], json.loads(text)))
        return lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for desk in self.lines:
            self._write(desk)
        self.run("DELETE FROM snapshots")
        self.run("DELETE FROM tree_tiles")
        self._database.commit()
        self._database.close()

    def _write(self, desk: str) -> None:
        """All events chained again, the desk's row moved, and all heads signed again, each at its size and time."""
        self.run("DELETE FROM events WHERE desk = ?", (desk,))
        self.run("UPDATE person_keys SET since = 1 WHERE desk = ?", (desk,))
        previous, hashes, leaves, keys = FIRST, [], [], PersonKeys(self.run, desk)
        for seq, (columns, content) in enumerate(self.lines[desk], start=1):
            text = canonical({**content, "seq": seq})
            digest = chained(previous, text)
            leaves.append(leaf_hash(previous, text))
            marks = ", ".join("?" * (len(columns) + 5))
            *plain, contents = columns
            values = (desk, seq, *plain, keys.encrypted(seq, contents) if contents else None, text, previous, digest)
            self.run(f"INSERT INTO events (desk, seq, {COLUMNS}, previous, hash) VALUES ({marks})", values)
            previous = digest
            hashes.append(digest)
        self.run("UPDATE desks SET seq = ?, hash = ? WHERE name = ?", (len(hashes), previous, desk))
        self._sign(desk, hashes, leaves)

    def _sign(self, desk: str, hashes: list[str], leaves: list[bytes]) -> None:
        lines = self.run("SELECT line FROM signed_heads WHERE desk = ?", (desk,)).fetchall()
        old = [SignedHead.from_line(line) for (line,) in lines if self.signs_again]
        self.run("DELETE FROM signed_heads WHERE desk = ?", (desk,))
        for size, time in {min(head.size, len(hashes)): head.time for head in old}.items():
            digest = root(size, nodes_of(leaves)).hex()
            time = before(time, self.earlier)
            head = SignedHead.sign(self.key, desk=desk, size=size, root=digest, hash=hashes[size - 1], time=time)
            self.run("INSERT INTO signed_heads VALUES (?, ?, ?)", (desk, size, head.to_line()))

    # What owners do. `until`: what is changed is among the events up to there.

    def place(self, desk: str, until: int, *, least: int = 1, kinds: tuple[str, ...] = ()) -> int:
        """The index of an event, not the first."""
        found = [i for i in range(least, until) if not kinds or self.lines[desk][i][1]["kind"] in kinds]
        return int(self.rng.choice(found))

    def rewrite(self, desk: str, until: int) -> None:
        """One event says something else."""
        _, content = self.lines[desk][self.place(desk, until)]
        content["actor"] = f"somebody {self.rng.integers(1000)}"

    def cut(self, desk: str, until: int) -> None:
        """The end is gone: some of the events that were signed, and all later ones."""
        del self.lines[desk][self.place(desk, until) :]
        self._recount(desk)

    def remove(self, desk: str, until: int) -> None:
        """One event is gone."""
        del self.lines[desk][self.place(desk, until, kinds=("outcome", "token"))]

    def swap(self, desk: str, until: int) -> None:
        """Two events have changed places."""
        lines, kinds = self.lines[desk], ("outcome", "review", "token")
        i, j = self.place(desk, until, kinds=kinds), self.place(desk, until, kinds=kinds)
        if i == j:
            return self.swap(desk, until)
        times = lines[i][1]["time"], lines[j][1]["time"]
        lines[i], lines[j] = lines[j], lines[i]
        lines[i][1]["time"], lines[j][1]["time"] = times
        return None

    def insert(self, desk: str, until: int) -> None:
        """An event more, with the time of the one before."""
        at = self.place(desk, until, kinds=("outcome", "token"))
        columns, content = self.lines[desk][at]
        name = new_id(content["kind"])
        self.lines[desk].insert(at, ([name, *columns[1:]], {**content, "id": name}))

    def backdate(self, desk: str, until: int) -> None:
        """All of it was some days or months ago, whatever was signed when; the service's own events, too."""
        self.earlier = timedelta(days=float(self.rng.integers(1, 400)))
        for _, content in (line for lines in self.lines.values() for line in lines):
            content["time"] = before(content["time"], self.earlier)

    def take_new_key(self) -> None:
        """Everything is signed with another key, and the record of keys says so."""
        self.key = SigningKey(self.rng.bytes(32))
        for _, content in self.lines[SERVICE]:
            if content["kind"] == "key":
                content["body"] |= {"key": self.key.public, "previous": None, "endorsement": None}

    def change_token(self, *, in_record: bool) -> None:
        """A token may do more than it was made for; in the table alone, or also where it was recorded."""
        self.run("UPDATE tokens SET roles = '[\"admin\"]', desks = NULL WHERE name = 'intake'")
        if in_record:
            for _, content in self.lines[SERVICE]:
                if content["kind"] == "token" and content["body"]["row"]["name"] == "intake":
                    content["body"]["row"] |= {"roles": '["admin"]', "desks": None}

    def plant_token(self, *, in_record: bool) -> None:
        """A token that nobody created; in the table alone, or also where the others were recorded."""
        name = f"tok_{self.rng.bytes(8).hex()}"
        at = next(i for i, (_, content) in enumerate(self.lines[SERVICE]) if content["kind"] == "token")
        columns, content = self.lines[SERVICE][at]
        row = {**content["body"]["row"], "id": name, "name": f"planted {name}", "digest": self.rng.bytes(32).hex()}
        marks = ", ".join("?" * len(row))
        self.run(f"INSERT INTO tokens ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        if in_record:
            event = new_id("token")
            self.lines[SERVICE].insert(at, ([event, *columns[1:]], {**content, "id": event, "body": {"row": row}}))

    def _recount(self, desk: str) -> None:
        """The desk's row after events were removed."""
        decisions = sum(content["kind"] == "decision" for _, content in self.lines[desk])
        self.run("UPDATE desks SET decisions = ? WHERE name = ?", (decisions, desk))


def before(time: str, by: timedelta) -> str:
    """An earlier time."""
    return (datetime.fromisoformat(time) - by).isoformat(timespec="microseconds")


def copy_of(file: Path, target: Path) -> Path:
    """A copy of a closed database."""
    shutil.copyfile(file, target)
    return target
