"""PastLog: rounds of past decisions, who was in them, who was chosen, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_number
from evenhand.errors import InvalidInput
from evenhand.history._padded import round_sums
from evenhand.history.verdicts_of_past import PastVerdict, VerdictColumns, with_verdicts
from evenhand.records.contexts import as_contexts
from evenhand.schema import Schema

if TYPE_CHECKING:
    from evenhand.bandit import FairBandit
    from evenhand.history.warm_up import WarmUp

SHOWN = 50  # Refused rows that `print` lists.


@dataclass(frozen=True)
class RefusedRow:
    """A row of the table that is not in the log, and every reason.

    >>> print(RefusedRow("line 18", "a17", ("chosen must be yes or no, got 'perhaps'",)))
    line 18 (a17): chosen must be yes or no, got 'perhaps'
    """

    place: str
    """Where it stands: a line of a file, or a row of a table, counted from 0."""
    id: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place}{f' ({self.id})' if self.id else ''}: {'; '.join(self.reasons)}"


class PastRound(NamedTuple):
    """One round of a log."""

    name: str
    ids: tuple[str, ...]
    contexts: Floats
    """(k, d)."""
    chosen: tuple[int, ...]
    outcomes: dict[int, float]
    """Of chosen candidates; of some of them it may not be known yet."""
    probabilities: Floats | None
    """(k,), as recorded; None if nobody recorded them."""
    capacity: int


@dataclass(frozen=True, eq=False)
class PastLog:
    """Past decisions: N candidates in n rounds, one after the other. Made with `read` or `PastLog.of`."""

    contexts: Floats
    """(N, d)."""
    starts: Indices
    """(n + 1,), the first candidate of each round, and N."""
    chosen: Mask
    """(N,)."""
    outcomes: Floats
    """(N,), NaN for candidates who were not chosen, or whose outcome is not known yet."""
    probabilities: Floats | None
    """(N,), the chance that each candidate had to be chosen, as recorded; None if nobody recorded them."""
    capacities: Indices
    """(n,), how many a policy may choose in each round. It must not depend on who was chosen."""
    ids: tuple[str, ...]
    """(N,), unique; of the form "round/id" if somebody was in several rounds."""
    names: tuple[str, ...]
    """(n,), of the rounds."""
    schema: Schema | None = None
    refused: tuple[RefusedRow, ...] = ()
    counted_as: tuple[str, ...] = ()
    """Values that count as others, such as clipped ones, in sentences."""
    verdicts: tuple[PastVerdict, ...] = ()
    """Past reviews and complaints."""
    outcome_range: tuple[float, float] | None = None
    """The lowest and the highest outcome there can be, if somebody said so."""
    people: tuple[str, ...] = ()
    """(N,), what the table calls each candidate, if ids have the round in front; else nothing."""

    @classmethod
    def of(
        cls,
        contexts: Sequence[ArrayLike],
        chosen: Sequence[Sequence[int]],
        outcomes: Sequence[Mapping[int, float]],
        *,
        probabilities: Sequence[ArrayLike] | None = None,
        capacity: int | Sequence[int] | None = None,
    ) -> PastLog:
        """From a list per round: contexts (k, d), the indices of the chosen, {index: outcome}, probabilities (k,).

        capacity: how many a policy may choose, in all rounds or in each; None takes the share who were chosen.

        >>> log = PastLog.of([[[1.0], [0.5]], [[0.2], [0.1]]], [[0], [1]], [{0: 1.0}, {1: 0.0}])
        >>> print(log)
        2 rounds, 4 candidates, 2 chosen, 2 outcomes known (mean 0.5); no probabilities recorded
        """
        tables = [as_contexts(table) for table in contexts]
        if not tables or not len(tables) == len(chosen) == len(outcomes):
            raise InvalidInput(
                "contexts, chosen and outcomes must have the same number of rounds >= 1, "
                f"got {len(tables)}, {len(chosen)} and {len(outcomes)}"
            )
        starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64)
        if len({table.shape[1] for table in tables}) > 1:
            raise InvalidInput("contexts must have the same number of features in all rounds")
        taken, seen = np.zeros(starts[-1], dtype=np.bool_), np.full(starts[-1], np.nan)
        for number, (who, what) in enumerate(zip(chosen, outcomes, strict=True)):
            _fill_round(number, len(tables[number]), who, what, taken[starts[number] :], seen[starts[number] :])
        known = (
            None if probabilities is None else np.concatenate([np.asarray(p, dtype=np.float64) for p in probabilities])
        )
        if known is not None and (known.shape != taken.shape or not np.all((known >= 0.0) & (known <= 1.0))):
            raise InvalidInput("probabilities must be one number from 0 to 1 for each candidate")
        names = tuple(map(str, range(len(tables))))
        ids = tuple(f"{name}/{i}" for name, table in zip(names, tables, strict=True) for i in range(len(table)))
        log = cls(np.concatenate(tables), starts, taken, seen, known, np.diff(starts), ids, names)
        return replace(log, capacities=capacities_of(log, capacity))

    # What is in it.

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_candidates(self) -> int:
        """N, candidates of all rounds."""
        return len(self.chosen)

    @property
    def n_features(self) -> int:
        """d, the length of a context."""
        return int(self.contexts.shape[1])

    @property
    def sizes(self) -> Indices:
        """(n,), candidates of each round."""
        return np.asarray(np.diff(self.starts))

    @property
    def places(self) -> Indices:
        """(n,), how many were chosen in each round."""
        return round_sums(self.chosen.astype(np.float64), self.starts).astype(np.int64)

    @property
    def is_observed(self) -> Mask:
        """(N,), whether an outcome is known."""
        return np.asarray(np.isfinite(self.outcomes))

    @property
    def is_complete(self) -> Mask:
        """(n,), whether the outcomes of all who were chosen are known."""
        return np.asarray(round_sums((self.chosen & ~self.is_observed).astype(np.float64), self.starts) == 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to look at in a schema that was proposed, such as columns that are not used, and why."""
        return () if self.schema is None else tuple(map(str, self.schema.notes))

    def __iter__(self) -> Iterator[PastRound]:
        for number in range(len(self)):
            yield self.round(number)

    def round(self, number: int) -> PastRound:
        """One round."""
        part = slice(self.starts[number], self.starts[number + 1])
        seen = self.outcomes[part]
        return PastRound(
            self.names[number],
            self.ids[part],
            self.contexts[part],
            tuple(np.flatnonzero(self.chosen[part]).tolist()),
            {int(i): float(seen[i]) for i in np.flatnonzero(np.isfinite(seen))},
            None if self.probabilities is None else self.probabilities[part],
            int(self.capacities[number]),
        )

    def __str__(self) -> str:
        seen = self.outcomes[self.is_observed]
        mean = f" (mean {seen.mean():.4g})" if len(seen) else ""
        known = "probabilities recorded" if self.probabilities is not None else "no probabilities recorded"
        first = f"{len(self)} rounds, {self.n_candidates} candidates, {int(self.chosen.sum())} chosen"
        lines = [f"{first}, {len(seen)} outcomes known{mean}; {known}"]
        if self.verdicts:
            lines.append(f"past verdicts on pairs: {len(self.verdicts)}")
        lines += [f"column {note}" for note in self.notes]
        if self.refused:
            lines += [
                f"{len(self.refused)} row{'s' * (len(self.refused) > 1)} refused:",
                *map(str, self.refused[:SHOWN]),
            ]
            lines += [f"and {len(self.refused) - SHOWN} more, see .refused"] * (len(self.refused) > SHOWN)
        return "\n".join(lines)

    # Parts of it.

    def take(self, rounds: ArrayLike) -> PastLog:
        """The log of these rounds, indices or a mask, in their order."""
        numbers = np.arange(len(self))[np.asarray(rounds)]
        if len(numbers) == 0:
            raise InvalidInput("a log must have at least 1 round, got 0")
        rows = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in numbers])
        ids = {self.ids[row] for row in rows}
        return replace(
            self,
            contexts=self.contexts[rows],
            starts=np.concatenate([[0], np.cumsum(self.sizes[numbers])]).astype(np.int64),
            chosen=self.chosen[rows],
            outcomes=self.outcomes[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            capacities=self.capacities[numbers],
            ids=tuple(self.ids[row] for row in rows),
            people=tuple(self.people[row] for row in rows) if self.people else (),
            names=tuple(self.names[i] for i in numbers),
            verdicts=tuple(verdict for verdict in self.verdicts if {verdict.first, verdict.second} <= ids),
        )

    def split(self, share: float = 0.5) -> tuple[PastLog, PastLog]:
        """The first rounds, this share of them, to learn from, and the later ones, to evaluate on."""
        share = check_number("share", share, above=0, below=1)
        at = round(share * len(self))
        if not 1 <= at < len(self):
            raise InvalidInput(
                f"both parts must have at least 1 round, got {at} of {len(self)} rounds in the first; more and shorter "
                "rounds come from `window` or `every`"
            )
        return self.take(np.arange(at)), self.take(np.arange(at, len(self)))

    # What it is for.

    def with_verdicts(
        self, source: Any, columns: VerdictColumns, *, table: str | None = None, encoding: str = "utf-8"
    ) -> PastLog:
        """The log with past reviews or complaints: a table, as for `read`, with one row for each pair.

        Rows that do not fit are added to the refused ones.
        """
        return with_verdicts(self, source, columns, table=table, encoding=encoding)

    def warm_up(self, bandit: FairBandit) -> WarmUp:
        """Let a bandit learn from the outcomes, and from past reviews and complaints; after an error nothing has."""
        from evenhand.history.warm_up import warm_up

        return warm_up(self, bandit)

    def records(self) -> Iterator[dict[str, Any]]:
        """Past decisions as `evenhand ledger import` reads them, one for each round with an outcome or a verdict."""
        from evenhand.history.warm_up import records_of

        return records_of(self)


def capacities_of(log: PastLog, capacity: int | Sequence[int] | None) -> Indices:
    """How many may be chosen in each round, (n,).

    None: the share of all candidates who were chosen, of each round's size, rounded, at least 1. Not the number who
    were chosen in the round itself: then a policy's probabilities would depend on the very decisions that the estimates
    take to be random.
    """
    if capacity is None:
        share = float(np.mean(log.chosen))
        return np.asarray(np.maximum(1, np.rint(share * log.sizes)), dtype=np.int64)
    given = np.broadcast_to(np.asarray(capacity), (len(log),))
    if given.dtype.kind not in "iu" or np.any(given < 1):
        raise InvalidInput(f"capacity must be whole numbers >= 1, one or one for each round, got {capacity!r}")
    return np.array(given, dtype=np.int64)


def _fill_round(number: int, k: int, who: Sequence[int], what: Mapping[int, float], taken: Mask, seen: Floats) -> None:
    for i in who:
        if not 0 <= i < k:
            raise InvalidInput(f"chosen must be indices of the {k} candidates of round {number}, got {i}")
        taken[i] = True
    for i, outcome in what.items():
        if not (0 <= i < k and taken[i]):
            raise InvalidInput(f"outcomes must be of chosen candidates, got one of {i} in round {number}")
        seen[i] = check_number(f"the outcome of candidate {i} of round {number}", outcome)
