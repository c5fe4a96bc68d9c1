"""ReviewRules: how pairs are shown to reviewers: what they see, what is asked twice, when a session ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from evenhand._internal.checks import (
    check_bool,
    check_number,
    check_one_of,
    check_whole,
    check_whole_or_none,
    is_whole,
    refusal,
)
from evenhand.errors import InvalidInput
from evenhand.ledger.event import check_name
from evenhand.records.ratings import SCALE, TOLERANCE, check_tolerance

Ask = Literal["verdicts", "ratings", "comparisons"]
ASKS: tuple[Ask, ...] = get_args(Ask)
MOST_RATINGS = 10
"""Values of a scale: each has a button, and a digit as its key."""
MOST_SHARE = 0.5
MOST_ANSWERS = 100_000
LEASE_SECONDS = (1, 86_400)


@dataclass(frozen=True)
class ReviewRules:
    """The settings of a desk's review page; all of them may change while the desk runs.

    >>> ReviewRules.create({"hidden": ["gender"], "repeats": 0.1}).hidden
    ('gender',)
    """

    ask: Ask = "verdicts"
    """What reviewers are asked: whether the gap is unfair, to rate both candidates, or to compare them."""
    scale: tuple[int, int] = (int(SCALE[0]), int(SCALE[1]))
    """The lowest and the highest rating: whole numbers, a button for each."""
    tolerance: float = TOLERANCE
    """The gap that is acceptable between two who are rated the same, or to be treated alike."""
    hidden: tuple[str, ...] = ()
    """Attributes that reviewers do not see; every answer is recorded with them."""
    ids: bool = False
    """Whether reviewers see candidates' ids. They would recognise a pair that is shown again by them."""
    controls: float = 0.05
    """The share of pairs drawn at random from all decisions."""
    repeats: float = 0.05
    """The share of pairs that a reviewer has answered before, shown again without notice."""
    repeat_after: int = 10
    """Minimum number of other answers before a pair is shown again."""
    session: int = 20
    """Answers after which the page proposes a break."""
    lease: float = 900.0
    """Seconds for which a pair is reserved for the reviewer who sees it."""
    differ_in: int | None = None
    """In how many features the two people of an interview's question differ at most, one of them being made up; 0 for
    two real people. None: 3 if the schema has more than 8 features, else 0."""

    @classmethod
    def create(cls, rules: Any) -> ReviewRules:
        """Rules from a dict; whatever is missing has its default."""
        return cls().changed(rules)

    def changed(self, changes: Any) -> ReviewRules:
        """These rules with changes from a dict; whatever is missing stays: a hidden attribute is not shown by omission.

        >>> ReviewRules(hidden=("gender",)).changed({"lease": 60}).hidden
        ('gender',)
        """
        if changes is None or isinstance(changes, ReviewRules):
            return changes or self
        names = [field.name for field in fields(self)]
        if not isinstance(changes, Mapping):
            raise refusal("reviewing", f"a dict of {', '.join(names)}", changes)
        unknown = sorted(str(name) for name in changes if name not in names)
        if unknown:
            raise InvalidInput(f"unknown setting of reviewing: {', '.join(unknown)}; it has {', '.join(names)}")
        readers: dict[str, Callable[[Any], Any]] = {"hidden": _read_hidden, "scale": _read_scale}
        read = {name: readers[name](value) if name in readers else value for name, value in changes.items()}
        rules = replace(self, **read)
        check_one_of("reviewing.ask", rules.ask, ASKS)
        check_tolerance(rules.tolerance, "reviewing.tolerance")
        check_bool("reviewing.ids", rules.ids)
        check_number("reviewing.controls", rules.controls, least=0, most=MOST_SHARE)
        check_number("reviewing.repeats", rules.repeats, least=0, most=MOST_SHARE)
        check_whole("reviewing.repeat_after", rules.repeat_after, least=1, most=MOST_ANSWERS)
        check_whole("reviewing.session", rules.session, least=1, most=MOST_ANSWERS)
        check_number("reviewing.lease", rules.lease, least=LEASE_SECONDS[0], most=LEASE_SECONDS[1])
        check_whole_or_none("reviewing.differ_in", rules.differ_in, least=0)
        return rules

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for the ledger."""
        return {**asdict(self), "hidden": list(self.hidden), "scale": list(self.scale)}


def check_hidden(hidden: Sequence[str], attributes: Sequence[str]) -> None:
    """InvalidInput for a hidden attribute that no candidate has: a misspelt one would be shown."""
    unknown = sorted(set(hidden) - set(attributes))
    if unknown:
        raise InvalidInput(
            f"reviewing.hidden has unknown attributes {', '.join(unknown)}; the attributes are {', '.join(attributes)}"
        )


def _read_scale(scale: Any) -> tuple[int, int]:
    """The ends of a scale that fits on the page.

    >>> _read_scale([0, 99])
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: reviewing.scale must be two whole numbers from 1 to 9 apart, as in [1, 5], got [0, 99]
    """
    ends = tuple(scale) if isinstance(scale, list | tuple) else ()
    if len(ends) != 2 or not all(map(is_whole, ends)) or not 1 <= ends[1] - ends[0] < MOST_RATINGS:
        raise refusal("reviewing.scale", f"two whole numbers from 1 to {MOST_RATINGS - 1} apart, as in [1, 5]", scale)
    return int(ends[0]), int(ends[1])


def _read_hidden(hidden: Any) -> tuple[str, ...]:
    if isinstance(hidden, str) or not isinstance(hidden, list | tuple):
        raise refusal("reviewing.hidden", "a list of attributes' names", hidden)
    return tuple(dict.fromkeys(check_name(name, "the name of a hidden attribute") for name in hidden))
