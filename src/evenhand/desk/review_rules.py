"""ReviewRules: how pairs are shown to reviewers: what they see, what is asked twice, when a session ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evenhand._internal.checks import check_bool, check_number, check_whole, refusal
from evenhand.errors import InvalidInput
from evenhand.ledger.event import check_name

MOST_SHARE = 0.5
MOST_ANSWERS = 100_000
LEASE_SECONDS = (1, 86_400)


@dataclass(frozen=True)
class ReviewRules:
    """The settings of a desk's review page; all of them may change while the desk runs.

    >>> ReviewRules.create({"hidden": ["gender"], "repeats": 0.1}).hidden
    ('gender',)
    """

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
        hidden = {"hidden": _read_hidden(changes["hidden"])} if "hidden" in changes else {}
        rules = replace(self, **{**changes, **hidden})
        check_bool("reviewing.ids", rules.ids)
        check_number("reviewing.controls", rules.controls, least=0, most=MOST_SHARE)
        check_number("reviewing.repeats", rules.repeats, least=0, most=MOST_SHARE)
        check_whole("reviewing.repeat_after", rules.repeat_after, least=1, most=MOST_ANSWERS)
        check_whole("reviewing.session", rules.session, least=1, most=MOST_ANSWERS)
        check_number("reviewing.lease", rules.lease, least=LEASE_SECONDS[0], most=LEASE_SECONDS[1])
        return rules

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for the ledger."""
        return {**asdict(self), "hidden": list(self.hidden)}


def check_hidden(hidden: Sequence[str], attributes: Sequence[str]) -> None:
    """InvalidInput for a hidden attribute that no candidate has: a misspelt one would be shown."""
    unknown = sorted(set(hidden) - set(attributes))
    if unknown:
        raise InvalidInput(
            f"reviewing.hidden has unknown attributes {', '.join(unknown)}; the attributes are {', '.join(attributes)}"
        )


def _read_hidden(hidden: Any) -> tuple[str, ...]:
    if isinstance(hidden, str) or not isinstance(hidden, list | tuple):
        raise refusal("reviewing.hidden", "a list of attributes' names", hidden)
    return tuple(dict.fromkeys(check_name(name, "the name of a hidden attribute") for name in hidden))
