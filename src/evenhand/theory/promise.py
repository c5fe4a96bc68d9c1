"""How many rounds VersionSpace can have flagged: two theorems as numbers; the proofs are in docs/mathematics.md."""

import math

from evenhand._internal.checks import check_number, check_whole


def flagged_rounds(
    m: int, *, bound: float, set_back: float, quantile: float, error_rate: float = 0.0, n_wrong: int = 0
) -> float:
    """How many rounds VersionSpace can ever have flagged, a metric of m unknowns being behind the answers.

    m log(8 B / delta) / log(1 / q) if answers are never wrong. At error rate p, with n_wrong of them wrong, mistaken
    flags included, log((1 - p) / p) / log(1 / rho) more for each, where rho = q + (1 - q) p / (1 - p) takes the place
    of q.

    >>> round(flagged_rounds(15, bound=1.0, set_back=1e-4, quantile=0.03), 1)
    48.3
    >>> round(flagged_rounds(15, bound=1.0, set_back=1e-4, quantile=0.1, error_rate=0.1, n_wrong=10), 1)
    118.9
    """
    q, p = (
        check_number("quantile", quantile, above=0, below=1),
        check_number("error_rate", error_rate, least=0, below=0.5),
    )
    return _promise_budget(m, bound, set_back, p, n_wrong) / math.log(1.0 / share_kept(q, p))


def share_kept(quantile: float, error_rate: float) -> float:
    """rho: what the first flag of a round leaves of the mass at most, relative to what agreeing would leave of it."""
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
    return m * math.log(max(8.0 * bound / set_back, 1.0)) + wrong


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
    n_points: int | None = None,
    z: float = 1.645,
) -> int:
    """The same for the rounds still to come, once the answers have left exp(log_mass) of all mass.

    variance: of the estimate of log_mass. n_points: by how many points quantiles are estimated; the share that a flag
    leaves then varies, its log by about 1 / sqrt(q n). Both at confidence z, in standard deviations.

    >>> flags_left(15, bound=1.0, set_back=1e-4, quantile=0.03, log_mass=-70.0)
    28
    >>> flags_left(15, bound=1.0, set_back=1e-4, quantile=0.03, log_mass=-70.0, variance=2.0, n_points=300)
    29
    """
    budget = _promise_budget(m, bound, set_back, error_rate, n_wrong) + log_mass
    gain = math.log(1.0 / share_kept(quantile, error_rate))
    noise = 0.0 if n_points is None else 1.0 / max(quantile * n_points, 1.0)
    flags = 0
    while (flags + 1) * gain <= budget + z * math.sqrt(variance + (flags + 1) * noise):
        flags += 1
    return flags
