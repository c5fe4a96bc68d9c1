"""Sentences about features that count together, and not only each by itself."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.schema.effects import Interaction, InteractionSigns
from evenhand.schema.words import distance_words, label, value_words

MOST_NAMED = 3
"""Pairs of features in sentences; 24 features have 276."""


def interaction_words(interaction: Interaction) -> str:
    """What two features make in one combination, and in the other."""
    first, second = interaction.first, interaction.second
    a, b = first.feature, second.feature
    low, high = value_words(a, first.first), value_words(a, first.second)
    one, other = value_words(b, second.first), value_words(b, second.second)
    return (
        f"({low}, {one}) against ({high}, {other}) makes {distance_words(interaction.together)}, "
        f"but ({low}, {other}) against ({high}, {one}) makes {distance_words(interaction.against)}."
    )


def together_words(interaction: Interaction) -> str:
    """The sentence about an interaction that a matrix shows, whatever its evidence."""
    names = (label(one.feature.name) for one in (interaction.first, interaction.second))
    return f"{' and '.join(names)} count together: {interaction_words(interaction)}"


def signs_in_words(
    signs: InteractionSigns, details: Mapping[tuple[str, str], Interaction] | None = None
) -> tuple[str, ...]:
    """At most four sentences: on the clearest pairs, and on all others. details: what the pairs make, where known.

    >>> signs_in_words(InteractionSigns(clear=(("income", "debt"),), others="none"))
    ('income and debt count together.', 'No sign that other features interact.')
    >>> signs_in_words(InteractionSigns())
    ('Too few answers to tell whether features interact.',)
    """
    sentences = []
    for pair in named_pairs(signs):
        is_clear = pair in signs.clear
        both = f"{label(pair[0])} and {label(pair[1])} count together"
        detail = (details or {}).get(pair)
        start = both if is_clear else f"There is some sign that {both}"
        sentences.append(f"{start}." if detail is None else f"{start}: {interaction_words(detail)}")
    return (*sentences, _others(signs))


def named_pairs(signs: InteractionSigns) -> tuple[tuple[str, str], ...]:
    """The pairs that sentences name."""
    return (*signs.clear, *signs.some)[:MOST_NAMED]


def _others(signs: InteractionSigns) -> str:
    found = len(signs.clear) + len(signs.some)
    more = found - len(named_pairs(signs))
    if more:
        return f"{more} more pair{'s' * (more != 1)} of features may count together."
    if signs.others == "none":
        return "No sign that other features interact." if found else "No sign that features interact."
    return f"Too few answers to tell whether {'other features' if found else 'features'} interact."
