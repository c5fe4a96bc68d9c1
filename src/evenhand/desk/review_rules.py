"""ReviewRules: how people are asked about pairs: what they see, what is asked twice, when a session ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evenhand._internal.checks import is_number, is_whole
from evenhand.errors import InvalidInput
from evenhand.ledger.names import check_name


@dataclass(frozen=True)
class ReviewRules:
    """The part of a desk's settings that the review page keeps to; all of it may change while the desk runs.

    >>> ReviewRules.create({"hidden": ["gender"], "repeats": 0.1}).hidden
    ('gender',)
    """

    hidden: tuple[str, ...] = ()
    """Attributes that reviewers do not see; every answer's record says which."""
    ids: bool = False
    """Whether reviewers see candidates' ids. By them a pair that comes a second time is known at a glance."""
    controls: float = 0.05
    """The share of pairs drawn by lot from all decisions, whatever the desk thinks of them."""
    repeats: float = 0.05
    """The share of pairs that a reviewer has answered before, asked again without notice."""
    repeat_after: int = 10
    """A pair comes again after so many other answers at the earliest."""
    session: int = 20
    """After so many answers the page proposes to stop."""
    lease: float = 900.0
    """Seconds for which a pair is kept for the reviewer who sees it."""

    @classmethod
    def create(cls, given: Any) -> ReviewRules:
        """Rules as a user gives them, in a dict; what is not said stays as it is by default."""
        return cls().changed(given)

    def changed(self, given: Any) -> ReviewRules:
        """These rules with changes, in a dict; what is not said stays as it is: nothing hidden is shown by silence.

        >>> ReviewRules(hidden=("gender",)).changed({"lease": 60}).hidden
        ('gender',)
        """
        if given is None or isinstance(given, ReviewRules):
            return given or self
        if not isinstance(given, Mapping):
            raise InvalidInput(f"reviewing is {given!r}; allowed is a dict of {', '.join(_names())}")
        wrong = sorted(str(name) for name in given if name not in _names())
        if wrong:
            raise InvalidInput(f"reviewing has no {', '.join(wrong)}; it has {', '.join(_names())}")
        wanted = dict(given)
        if "hidden" in wanted:
            wanted["hidden"] = _read_hidden(wanted["hidden"])
        rules = replace(self, **wanted)
        rules._check()
        return rules

    def _check(self) -> None:
        if not isinstance(self.ids, bool):
            raise InvalidInput(f"reviewing.ids is {self.ids!r}; allowed are True and False")
        for name, share in (("controls", self.controls), ("repeats", self.repeats)):
            if not is_number(share) or not 0 <= share <= 0.5:
                raise InvalidInput(f"reviewing.{name} is {share!r}; allowed is a share from 0 to 0.5")
        for name, number in (("repeat_after", self.repeat_after), ("session", self.session)):
            if not is_whole(number) or not 1 <= number <= 100_000:
                raise InvalidInput(f"reviewing.{name} is {number!r}; allowed is a whole number from 1 to 100,000")
        if not is_number(self.lease) or not 1 <= self.lease <= 86_400:
            raise InvalidInput(f"reviewing.lease is {self.lease!r}; allowed are 1 to 86,400 seconds")

    def to_dict(self) -> dict[str, Any]:
        """In JSON's own types, for the ledger."""
        return {**asdict(self), "hidden": list(self.hidden)}


def check_hidden(hidden: Sequence[str], attributes: Sequence[str]) -> None:
    """InvalidInput if something is to be hidden that no candidate has: a misspelt attribute would be shown."""
    unknown = sorted(set(hidden) - set(attributes))
    if unknown:
        raise InvalidInput(
            f"reviewing.hidden names {', '.join(unknown)}, which no candidate has; "
            f"the attributes are {', '.join(attributes)}"
        )


def _names() -> list[str]:
    return [field.name for field in fields(ReviewRules)]


def _read_hidden(hidden: Any) -> tuple[str, ...]:
    if isinstance(hidden, str) or not isinstance(hidden, list | tuple):
        raise InvalidInput(f"reviewing.hidden is {hidden!r}; allowed is a list of attributes' names")
    return tuple(dict.fromkeys(check_name(name, "the name of a hidden attribute") for name in hidden))
