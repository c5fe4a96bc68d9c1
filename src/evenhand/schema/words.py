"""Sentences about the effects of features, or of coordinates that only have names: limits on probabilities, amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.schema.effects import (
    Comparison,
    Distance,
    Ends,
    Equivalence,
    FeatureEffect,
    Value,
    with_ends,
)
from evenhand.schema.features import Category, Date, Feature, Number, Ordinal, YesNo

NEGLIGIBLE = 0.01
"""Smaller distances count as no difference: probabilities within one percentage point."""

ALMOST_ALIKE = 0.05
"""The distance up to which two levels count as almost alike: probabilities within five percentage points."""

SMALLEST = 1e-9  # Smaller amounts are written with a power of ten.
RANKED = 8  # Maximum number of features named in the ranking.


def sentences_of(
    effects: Sequence[FeatureEffect],
    equivalences: Sequence[Equivalence],
    interactions: Sequence[str],
    *,
    negligible: float,
    evident: bool,
) -> tuple[str, ...]:
    """All sentences, the most important first.

    interactions: sentences about features that count together; if they are evident from answers, they come after the
    ranking: with 24 features dozens of sentences follow.
    """
    counting = [effect for effect in effects if effect.distance.value >= negligible]
    idle = [effect for effect in effects if effect.distance.value < negligible]
    sentences = [_ranking(counting)] if len(counting) > 1 else []
    sentences += interactions if evident else ()
    for effect in counting:
        sentences += _effect(effect)
    sentences += [_equivalence(each) for each in equivalences if each.is_limited]
    sentences += () if evident else interactions
    return (*sentences, *(_idle(effect) for effect in idle))


def amount(value: float, unit: str = "") -> str:
    """An amount to three digits (whole numbers that end in zeros keep theirs), with its unit.

    >>> amount(10_000, "EUR"), amount(3214.28, "EUR"), amount(1, "years"), amount(0.25), amount(2024), amount(1.43e-7)
    ('10,000 EUR', '3,210 EUR', '1 year', '0.25', '2,024', '0.000000143')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        text = f"{int(value):,}"
    else:
        digits = 2 - math.floor(math.log10(abs(value)))
        rounded = round(value, digits)
        text = f"{rounded:,.{max(digits, 0)}f}" if SMALLEST <= abs(value) < 1e15 else f"{value:.3g}"
        text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return f"{text} {unit_of(text, unit)}" if unit else text


def unit_of(number: str, unit: str) -> str:
    """The unit after a number, singular after 1.

    >>> unit_of("1", "years"), unit_of("2", "years"), unit_of("1", "ms")
    ('year', 'years', 'ms')
    """
    return unit[:-1] if number == "1" and len(unit) > 2 and unit.endswith("s") else unit


def label(name: str) -> str:
    """A feature's name as people write it.

    >>> label("lives_in_the_north")
    'lives in the north'
    """
    return name.replace("_", " ").strip() or name


def value_words(feature: Feature, value: Value) -> str:
    """A value of a feature in words.

    >>> value_words(Number("age", low=18, high=99, unit="years"), 18.0)
    '18 years'
    """
    if value is None:
        return "not known"
    if isinstance(feature, Number):
        return amount(float(value), feature.unit)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def distance_words(distance: Distance) -> str:
    """A distance, with its bounds if known.

    >>> from evenhand.schema.effects import Distance
    >>> distance_words(Distance(0.123)), distance_words(Distance(0.01, lower=0.0, upper=0.02))
    ('0.12', '0.01 (between 0 and 0.02)')
    """
    if distance.lower is None or distance.upper is None:
        return _short(distance.value)
    return f"{_short(distance.value)} (between {_short(distance.lower)} and {_short(distance.upper)})"


def limit_words(distance: Distance) -> str:
    """The limit that a distance puts on probabilities.

    >>> from evenhand.schema.effects import Distance
    >>> limit_words(Distance(0.12)), limit_words(Distance(1.3))
    ('probabilities may differ by up to 12 percentage points', 'no limit on probabilities')
    """
    if distance.no_limit:
        return "no limit on probabilities"
    return f"probabilities may differ by up to {_points(distance.value)}"


def no_limit_from(name: str, difference: float, unit: str = "") -> str:
    """The sentence about the difference in one feature that makes a distance of 1."""
    return (
        f"From a difference of about {amount(difference, unit)} in {label(name)} on there is no limit on probabilities."
    )


def _short(value: float) -> str:
    if value == 0.0 or math.isinf(value):
        return "0" if value == 0.0 else "no end"
    if value < 1e-4:
        return "less than 0.0001"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _points(value: float) -> str:
    text = f"{100 * value:.0f}" if value >= 0.1 else f"{100 * max(value, 1e-4):.2g}"
    return f"{text} percentage point" if text == "1" else f"{text} percentage points"


def _makes(distance: Distance) -> str:
    return f"makes a distance of {distance_words(distance)}: {limit_words(distance)}."


def _ranking(effects: Sequence[FeatureEffect]) -> str:
    named = effects if len(effects) <= RANKED else effects[: RANKED - 1]
    ranking = ", then ".join(f"{label(effect.name)} ({_short(effect.distance.value)})" for effect in named)
    if len(named) < len(effects):
        ranking += f", then {len(effects) - len(named)} others"
    return f"By the distance a feature can make alone: {ranking}."


def _effect(effect: FeatureEffect) -> list[str]:
    if isinstance(effect.feature, Category):
        return _category(effect)
    if isinstance(effect.feature, Number):
        sentences = _number(effect.feature, effect)
    elif isinstance(effect.feature, Date | Ordinal):
        sentences = _range(effect)
    else:
        sentences = [f"{label(effect.name)}, yes or no, {_makes(effect.known[0].distance)}"]
    missing = [one for one in effect.comparisons if one.second is None]
    if missing:
        made = " and ".join(
            f"{distance_words(one.distance)} to {value_words(one.feature, one.first)}" for one in missing
        )
        sentences.append(f"Where {label(effect.name)} is not known, the distance is {made}.")
    return sentences


def _range(effect: FeatureEffect) -> list[str]:
    """Sentences about a feature whose values are in order: its range, and one step."""
    whole, *steps = effect.known
    ends = f"{value_words(effect.feature, whole.first)} to {value_words(effect.feature, whole.second)}"
    sentences = [f"{_amount_of(step)} {_makes(step.distance)}" for step in steps]
    return [*sentences, f"The whole range of {label(effect.name)}, {ends}, {_makes(whole.distance)}"]


def _number(feature: Number, effect: FeatureEffect) -> list[str]:
    whole, *steps = effect.known
    ends = f"{value_words(feature, feature.low)} to {value_words(feature, feature.high)}"
    sentences = [f"The whole range of {label(feature.name)}, {ends}, {_makes(whole.distance)}"]
    if feature.step != feature.high - feature.low:
        sentences = [f"{_amount_of(step)} {_makes(step.distance)}" for step in steps] + sentences
    if feature.scale != "linear":
        sentences.append(f"{label(feature.name)} is on a {feature.scale} scale: {feature.scale_words}.")
    elif whole.distance.value > 1.0:
        sentences.append(no_limit_from(feature.name, (feature.high - feature.low) / whole.distance.value, feature.unit))
    return sentences


def _category(effect: FeatureEffect) -> list[str]:
    far, near = effect.farthest, effect.nearest
    if len(effect.comparisons) == 1:
        return [f"In {label(effect.name)}, {far.first} or {far.second} {_makes(far.distance)}"]
    if _short(near.distance.value) == _short(far.distance.value):
        return [f"In {label(effect.name)}, any two are equally far apart, which {_makes(far.distance)}"]
    alike = "count as almost alike" if near.distance.value <= ALMOST_ALIKE else "are the nearest"
    return [
        f"In {label(effect.name)}, {far.first} and {far.second} are the farthest apart, which {_makes(far.distance)}",
        f"In {label(effect.name)}, {near.first} and {near.second} {alike}: {distance_words(near.distance)}.",
    ]


def _idle(effect: FeatureEffect) -> str:
    ends = "" if effect.distance.lower is None else f"; its distance is {distance_words(effect.distance)}"
    within = "" if effect.distance.value == 0.0 else f", to {_points(effect.distance.value)}"
    same = f"candidates who differ in nothing else get the same probability{within}"
    return f"{label(effect.name)} makes no difference so far: {same}{ends}."


def _amount_of(comparison: Comparison) -> str:
    feature = comparison.feature
    if isinstance(feature, Number) and feature.scale != "linear":
        first, second = (value_words(feature, value) for value in (comparison.first, comparison.second))
        return f"In {label(feature.name)}, {first} or {second}"
    if isinstance(feature, Number):
        assert feature.step is not None
        return f"A difference of {amount(feature.step, feature.unit)} in {label(feature.name)}"
    if isinstance(feature, Date) and comparison.second not in (feature.high, None):
        return f"A difference of {feature.step} {unit_of(str(feature.step), 'days')} in {label(feature.name)}"
    if isinstance(feature, Ordinal) and comparison.second not in (feature.levels[-1], None):
        return f"One level of {label(feature.name)}"
    if not isinstance(feature, YesNo) or comparison.second is None:
        first, second = (value_words(feature, value) for value in (comparison.first, comparison.second))
        return f"In {label(feature.name)}, {first} or {second}"
    return f"{label(feature.name)}, yes or no,"


def _equivalence(equivalence: Equivalence) -> str:
    number = equivalence.number
    unit = number.unit if isinstance(number, Number) else ""
    same = f"{amount(equivalence.amount, unit)} in {label(number.name)}"
    return f"{_amount_of(equivalence.comparison)} counts for as much as {same}{between_words(equivalence, unit)}."


def between_words(equivalence: Equivalence, unit: str) -> str:
    """The bounds of an amount that is limited, in brackets; "" if they were not asked for."""
    lower, upper = equivalence.lower, equivalence.upper
    if lower is None or upper is None:
        return ""
    if math.isinf(upper):
        return f" (at least {amount(lower, unit)})"
    return f" (between {amount(lower, unit)} and {amount(upper, unit)})"


def sentences_of_names(names: Sequence[str], matrix: ArrayLike, *, ends: Ends | None = None) -> tuple[str, ...]:
    """Sentences about candidates who differ by 1 in one feature only, the most important feature first.

    >>> print(*sentences_of_names(["income", "age"], [[0.16, 0.0], [0.0, 0.04]]), sep="\\n")
    A difference of 1 in income makes a distance of 0.40: probabilities may differ by up to 40 percentage points.
    A difference of 1 in age makes a distance of 0.20: probabilities may differ by up to 20 percentage points.
    A difference of 1 in age counts for as much as 0.5 in income.
    """
    distances = with_ends(np.sqrt(np.maximum(np.diag(np.asarray(matrix)), 0.0)), np.eye(len(names)), ends)
    features = [Number(name, low=0, high=1, step=1) for name in names]
    units = [Comparison(feature, 0.0, 1.0, made) for feature, made in zip(features, distances, strict=True)]
    units.sort(key=lambda unit: -unit.distance.value)
    counting = [unit for unit in units if unit.distance.value >= NEGLIGIBLE]
    sentences = [f"{_amount_of(unit)} {_makes(unit.distance)}" for unit in counting]
    sentences += [no_limit_from(u.feature.name, 1.0 / u.distance.value) for u in counting if u.distance.value > 1.0]
    same = [Equivalence.of(unit, counting[0].feature, 1.0, counting[0].distance) for unit in counting[1:]]
    sentences += [_equivalence(each) for each in same if each.is_limited]
    for unit in units[len(counting) :]:
        bounds = "" if unit.distance.lower is None else f"; its distance is {distance_words(unit.distance)}"
        sentences.append(f"{label(unit.feature.name)} makes no difference so far{bounds}.")
    return tuple(sentences)
