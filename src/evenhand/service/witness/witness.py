"""Witness: keeps the signed heads of services, and accepts one only if it continues the last.

A folder has a file of heads for each service, named after its first key, and one of contradictions: two heads that a
service signed and that cannot both be true. The files are JSON lines; `evenhand ledger verify --heads` reads the heads.
In memory is only where in a file each head is.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import canonical, now
from evenhand.ledger.merkle import is_consistent
from evenhand.ledger.signed_head import CLOCKS, SignedHead, is_signature, key_statement
from evenhand.ledger.verification.heads_file import HeadsFile, append_line

CONTRADICTIONS = "contradictions.jsonl"
SUFFIX = ".heads.jsonl"


class HeadRefused(EvenhandError, ValueError):
    """A head that the witness does not accept."""


class NeedsProof(HeadRefused):
    """A head without the proof that it continues the one that is kept."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the proof must begin at {size} events, the size of the head that is kept")
        self.size = size


class Contradiction(HeadRefused):
    """Two heads of one desk that cannot both be true: a fork, a rollback or a backdated head."""

    def __init__(self, kind: str, detail: str, kept: SignedHead, head: SignedHead) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.kept, self.head = kind, kept, head

    def to_dict(self) -> dict[str, Any]:
        """For JSON: with both heads, which show it to everybody."""
        return {"kind": self.kind, "detail": str(self), "kept": self.kept.to_dict(), "head": self.head.to_dict()}


@dataclass(frozen=True)
class Submission:
    """A head, and what shows that it continues an earlier one."""

    head: SignedHead
    first: int = 0
    """The size of the earlier head; 0 for none."""
    proof: tuple[bytes, ...] = ()
    keys: Sequence[Mapping[str, Any]] = field(default=())
    """The keys that the service has recorded: for a head that is signed with a new one."""

    @classmethod
    def from_dict(cls, content: Any) -> Submission:
        """The submission in parsed JSON; InvalidInput if it is none."""
        try:
            first, keys = content.get("first", 0), content.get("keys", [])
            proof = tuple(bytes.fromhex(one) for one in content.get("proof", []))
            if not isinstance(first, int) or not all(isinstance(key, dict) for key in keys):
                raise TypeError
            return cls(SignedHead.from_dict(content.get("head")), first, proof, keys)
        except (AttributeError, TypeError, ValueError) as error:
            detail = f": {error}" if isinstance(error, InvalidInput) else ""
            raise InvalidInput(f"head, first, proof and keys must be as a service sends them{detail}") from None


class Witness:
    """Keeps heads in a folder. Threads may share it.

    keys: public keys of the services whose heads are accepted. Without any, the first key of a source is trusted, and
    later ones if the key before has signed them.
    """

    def __init__(self, folder: Path, keys: Sequence[str] = ()) -> None:
        self._folder, self._turn = folder, threading.Lock()
        self._origins = {key: key for key in keys}
        """The first key of the service that each known key belongs to."""
        self._sources: dict[str, str] = {}
        """The service that each source speaks for."""
        self._trusts_first = not keys
        self._files: dict[Path, HeadsFile] = {}
        self.contradictions: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in sorted(folder.glob(f"*{SUFFIX}")):
            self._file(file)
        if (folder / CONTRADICTIONS).exists():
            for line in (folder / CONTRADICTIONS).read_bytes().splitlines(keepends=True):
                if line.endswith(b"\n"):  # the last one may have been cut off when the machine stopped
                    self.contradictions.append({k: v for k, v in orjson.loads(line).items() if k != "found"})

    def _file(self, file: Path) -> HeadsFile:
        if file not in self._files:
            self._files[file] = HeadsFile(file, self._remember, is_own=True)
        return self._files[file]

    def _kept(self, origin: str) -> HeadsFile:
        """The heads of a service."""
        return self._file(self._folder / f"{origin[:16]}{SUFFIX}")

    def _remember(self, content: Mapping[str, Any]) -> None:
        self._origins[content["key"]] = content["origin"]
        self._sources.setdefault(content["source"], content["origin"])

    def latest(self) -> list[SignedHead]:
        """The newest head of each desk."""
        with self._turn:
            return [head for file in self._files.values() for head in _latest(file)]

    def latest_from(self, source: str) -> list[SignedHead]:
        """The newest head of each desk of the service that this source speaks for."""
        with self._turn:
            return _latest(self._kept(self._sources[source])) if source in self._sources else []

    def kept_size(self, source: str, desk: str) -> int:
        """The size of the newest head of a desk from this source; 0 if there is none."""
        with self._turn:
            return self._kept(self._sources[source]).size_of(desk) if source in self._sources else 0

    def accept(self, submission: Submission, source: str = "", *, is_newest: bool = False) -> bool:
        """Keep a head, if it continues the last; False if it was known. HeadRefused if it does not.

        is_newest: whether the service says that it has no newer one; then a shorter one is a rollback.
        """
        with self._turn:
            try:
                return self._accept(submission, source, is_newest=is_newest)
            except Contradiction as found:
                self._record(found)
                raise

    def _accept(self, submission: Submission, source: str, *, is_newest: bool) -> bool:
        head = submission.head
        if not head.is_signed:
            raise HeadRefused(f"the head of desk {head.desk!r} with {head.size} events has a wrong signature")
        origin = self._origin_of(head.key, submission.keys, source)
        kept = self._kept(origin)
        latest, same = kept.latest(head.desk), kept.find(head.desk, head.size)
        if latest is not None:
            _check_known(same, head)
            if same is not None and not (is_newest and head.size < latest.size):
                return False
            if head.size < latest.size and not (is_newest or head.time > latest.time):
                return False  # sent late
            _check_continues(latest, submission)
        content = {**head.to_dict(), "origin": origin, "source": source, "received": now()}
        kept.append(content, canonical(content))
        return True

    def _origin_of(self, key: str, keys: Sequence[Mapping[str, Any]], source: str) -> str:
        """The service that a key belongs to; HeadRefused if it is unknown."""
        if self._trusts_first and source not in self._sources:
            return key
        chain, recorded = [key], {str(one.get("key")): one for one in keys}
        while chain[-1] not in self._origins:
            one = recorded.get(chain[-1], {})
            previous, endorsement = str(one.get("previous")), str(one.get("endorsement"))
            if previous in chain or not is_signature(previous, key_statement(chain[-1], previous), endorsement):
                raise HeadRefused(f"the head is signed with the key {key}, which no known key has endorsed")
            chain.append(previous)
        return self._origins[chain[-1]]

    def _record(self, found: Contradiction) -> None:
        content = found.to_dict()
        if content not in self.contradictions:
            self.contradictions.append(content)
            append_line(self._folder / CONTRADICTIONS, canonical({**content, "found": now()}))


def _latest(file: HeadsFile) -> list[SignedHead]:
    return [head for desk in sorted(file.desks) if (head := file.latest(desk)) is not None]


def _check_known(same: SignedHead | None, head: SignedHead) -> None:
    """Contradiction if there is another head of the same size."""
    if same is not None and (same.root, same.hash) != (head.root, head.hash):
        detail = f"two heads of desk {head.desk!r} with {head.size} events differ"
        raise Contradiction("fork", detail, same, head)


def _check_continues(kept: SignedHead, submission: Submission) -> None:
    """HeadRefused unless the head continues the one that is kept."""
    head = submission.head
    if head.size < kept.size:
        detail = f"desk {head.desk!r} has {head.size} events, and had {kept.size} at {kept.time}"
        raise Contradiction("rollback", detail, kept, head)
    if head.moment < kept.moment - CLOCKS:
        detail = f"a head of desk {head.desk!r} says {head.time}, a shorter one {kept.time}"
        raise Contradiction("backdated", detail, kept, head)
    if submission.first != kept.size:
        raise NeedsProof(kept.size)
    roots = bytes.fromhex(kept.root), bytes.fromhex(head.root)
    if not is_consistent(kept.size, roots[0], head.size, roots[1], submission.proof):
        detail = f"the first {kept.size} of {head.size} events of desk {head.desk!r} are not those that were signed"
        raise Contradiction("fork", f"{detail} at {kept.time}, or the proof is wrong", kept, head)
