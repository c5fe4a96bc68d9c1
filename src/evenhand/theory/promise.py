"""How many rounds VersionSpace can have flagged: two theorems as numbers; the proofs are in docs/mathematics.md."""

import math
from statistics import NormalDist

from evenhand._internal.checks import check_number, check_whole


def flagged_rounds(
    m: int, *, bound: float, set_back: float, quantile: float, error_rate: float = 0.0, n_wrong: int = 0
) -> float:
    """How many rounds VersionSpace can ever have flagged, a metric of m unknowns being behind the answers.

    m log(4 B / delta) / log(1 / q) if answers are never wrong. At error rate p, with n_wrong of them wrong, mistaken
    flags included, log((1 - p) / p) / log(1 / rho) more for each, where rho = q + (1 - q) p / (1 - p) takes the place
    of q. Each decision is reviewed before the next one; if up to D wait for their review at once, D times as many. If
    answers only say whether any of n pairs is unfair, n q takes the place of q.

    >>> round(flagged_rounds(15, bound=1.0, set_back=1e-4, quantile=0.03), 1)
    45.3
    >>> round(flagged_rounds(15, bound=1.0, set_back=1e-4, quantile=0.1, error_rate=0.1, n_wrong=10), 1)
    112.4
    """
    budget = _promise_budget(m, bound, set_back, error_rate, n_wrong)
    return budget / math.log(1.0 / share_kept(quantile, error_rate))


def share_kept(quantile: float, error_rate: float) -> float:
    """rho: what the first flag of a round leaves of the mass at most, relative to what agreeing would leave of it."""
    quantile = check_number("quantile", quantile, above=0, below=1)
    error_rate = check_number("error_rate", error_rate, least=0, below=0.5)
    return quantile + (1.0 - quantile) * error_rate / (1.0 - error_rate)


def flagged_rounds_per_wrong_answer(quantile: float, error_rate: float) -> float:
    """How many flagged rounds one wrong answer adds at most.

    >>> round(flagged_rounds_per_wrong_answer(0.1, 0.1), 1), round(flagged_rounds_per_wrong_answer(0.05, 0.001), 1)
    (1.4, 2.3)
    """
    return math.log((1.0 - error_rate) / error_rate) / math.log(1.0 / share_kept(quantile, error_rate))


def _promise_budget(m: int, bound: float, set_back: float, error_rate: float, n_wrong: int) -> float:
    """The log of the mass that can be lost before the neighbourhood of the truth would be: nobody can take that."""
    m, n_wrong = check_whole("m", m, least=1), check_whole("n_wrong", n_wrong, least=0)
    bound, set_back = check_number("bound", bound, above=0), check_number("set_back", set_back, above=0)
    wrong = n_wrong * math.log((1.0 - error_rate) / error_rate) if error_rate > 0.0 else 0.0
    return m * math.log(max(4.0 * bound / set_back, 1.0)) + wrong


def flags_left(
    m: int,
    *,
    bound: float,
    set_back: float,
    quantile: float,
    error_rate: float = 0.0,
    n_wrong: int = 0,
    log_mass: float = 0.0,
    variance: float = 0.0,
    confidence: float | None = None,
) -> int | None:
    """The same for the rounds still to come, once the answers have left exp(log_mass) of all mass.

    None if they have left less than any metric with n_wrong wrong answers keeps: then no such metric exists.

    confidence: None if log_mass and quantiles are exact. Otherwise half of the error probability is for log_mass, the
    log of an unbiased estimate with this variance, and half for quantiles that leave the share q only on average.

    >>> flags_left(15, bound=1.0, set_back=1e-4, quantile=0.03, log_mass=-70.0)
    25
    >>> flags_left(15, bound=1.0, set_back=1e-4, quantile=0.03, log_mass=-70.0, variance=2.0, confidence=0.95)
    27
    >>> flags_left(15, bound=1.0, set_back=1e-4, quantile=0.03, log_mass=-160.0) is None
    True
    """
    budget = _promise_budget(m, bound, set_back, error_rate, n_wrong) + log_mass
    if confidence is not None:
        failure = (1.0 - check_number("confidence", confidence, above=0, below=1)) / 2.0
        budget += variance / 2.0 + NormalDist().inv_cdf(1.0 - failure) * math.sqrt(variance) + math.log(1.0 / failure)
    return None if budget < 0.0 else math.floor(budget / math.log(1.0 / share_kept(quantile, error_rate)))


def flags_in_words(left: int, n_wrong: int | None = None, cost: float = 0.0) -> str:
    """`flags_left` as a sentence. n_wrong: answers so far taken to be wrong. cost: the flags that one more may add.

    >>> flags_in_words(1)
    'At most 1 more decision can ever be flagged, if each is reviewed before the next and the answers fit a metric.'
    >>> flags_in_words(9, 0, 2.4).partition("next. ")[2]
    'None of the answers so far are taken to be wrong; each further wrong one may add 2.4.'
    """
    decisions = f"At most {left} more {'decision' if left == 1 else 'decisions'} can ever be flagged"
    if n_wrong is None:
        return f"{decisions}, if each is reviewed before the next and the answers fit a metric."
    wrong = f"{n_wrong or 'None'} of the answers so far {'is' if n_wrong == 1 else 'are'} taken to be wrong"
    return f"{decisions}, if each is reviewed before the next. {wrong}; each further wrong one may add {cost:.1f}."
