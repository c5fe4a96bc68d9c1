"""ReviewRules: how pairs are shown to reviewers: what they see, what is asked twice, when a session ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from evenhand._internal.checks import (
    check_bool,
    check_number,
    check_one_of,
    check_share,
    check_whole,
    check_whole_or_none,
    is_whole,
    refusal,
)
from evenhand.errors import InvalidInput
from evenhand.ledger.event import check_name
from evenhand.records.ratings import SCALE, TOLERANCE, check_tolerance

Ask = Literal["verdicts", "ratings", "comparisons"]
Order = Literal["range", "learned"]
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
    mark_above: float = 0.05
    """A difference is marked if it is more than this share of the feature's range: 28 against 27 years is none."""
    order: Order = "range"
    """Where there are many features, which differences come first: as shares of the features' ranges, or as the desk
    has learned to weigh them; the latter tells reviewers what it has learned."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Features under a heading, by the name of the group; those in no group come last."""
    far_apart: Mapping[str, float] = field(default_factory=dict)
    """By number: pairs that differ by more are not asked about, since nobody would call them alike."""
    certain: float = 0.98
    """Pairs whose answer is predicted with this probability are not asked about, unless they limit the probabilities or
    are controls; 1: all are."""
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
        names = [one.name for one in fields(self)]
        if not isinstance(changes, Mapping):
            raise refusal("reviewing", f"a dict of {', '.join(names)}", changes)
        unknown = sorted(str(name) for name in changes if name not in names)
        if unknown:
            raise InvalidInput(f"unknown setting of reviewing: {', '.join(unknown)}; it has {', '.join(names)}")
        readers: dict[str, Callable[[Any], Any]] = {
            "hidden": _read_hidden,
            "scale": _read_scale,
            "groups": _read_groups,
            "far_apart": _read_far_apart,
        }
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
        check_one_of("reviewing.order", rules.order, get_args(Order))
        check_share("reviewing.mark_above", rules.mark_above)
        check_number("reviewing.certain", rules.certain, above=0.5, most=1)
        check_whole_or_none("reviewing.differ_in", rules.differ_in, least=0)
        return rules

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for the ledger."""
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        groups = {name: list(features) for name, features in self.groups.items()}
        plain = {"hidden": list(self.hidden), "scale": list(self.scale), "far_apart": dict(self.far_apart)}
        return {**content, **plain, "groups": groups}


def check_attributes(rules: ReviewRules, attributes: Sequence[str]) -> None:
    """InvalidInput for an attribute that no candidate has: a misspelt one would not be hidden, or have no effect."""
    grouped = [name for features in rules.groups.values() for name in features]
    for setting, names in (("hidden", rules.hidden), ("groups", grouped), ("far_apart", rules.far_apart)):
        unknown = sorted(set(names) - set(attributes))
        if unknown:
            raise InvalidInput(
                f"reviewing.{setting} has unknown attributes {', '.join(unknown)}; the attributes are "
                f"{', '.join(attributes)}"
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


def _read_groups(groups: Any) -> dict[str, tuple[str, ...]]:
    """Groups of features; a feature is in one of them at most.

    >>> _read_groups({"Money": ["income"], "Work": ["income"]})
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: reviewing.groups must have each feature once, got income twice
    """
    if not isinstance(groups, Mapping):
        raise refusal("reviewing.groups", "a dict of lists of features, by the name of the group", groups)
    read: dict[str, tuple[str, ...]] = {}
    for title, features in groups.items():
        if isinstance(features, str) or not isinstance(features, list | tuple):
            raise refusal(f"reviewing.groups[{title!r}]", "a list of features", features)
        read[check_name(title, "the name of a group")] = tuple(
            check_name(name, "a grouped feature") for name in features
        )
    counts = Counter(name for features in read.values() for name in features)
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        raise InvalidInput(f"reviewing.groups must have each feature once, got {', '.join(twice)} twice")
    return read


def _read_far_apart(limits: Any) -> dict[str, float]:
    if not isinstance(limits, Mapping):
        raise refusal("reviewing.far_apart", "a dict of numbers, by feature", limits)
    names = {check_name(name, "a feature of reviewing.far_apart"): value for name, value in limits.items()}
    return {name: check_number(f"reviewing.far_apart[{name!r}]", value, above=0) for name, value in names.items()}


def _read_hidden(hidden: Any) -> tuple[str, ...]:
    if isinstance(hidden, str) or not isinstance(hidden, list | tuple):
        raise refusal("reviewing.hidden", "a list of attributes' names", hidden)
    return tuple(dict.fromkeys(check_name(name, "the name of a hidden attribute") for name in hidden))
