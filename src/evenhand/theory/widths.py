"""The cost of unknown rewards: confidence widths, their sum over time, and the randomness of the draw."""

import math

from evenhand._internal.checks import check_number, check_whole


def confidence_radius(d: int, t: int, *, lam: float = 1.0, delta: float) -> float:
    """Distance of theta from its estimate, in V's norm: sqrt(2 d log((1 + t/lam)/delta)) + sqrt(lam).

    Abbasi-Yadkori, Pal and Szepesvari: with probability 1 - delta, at all times at once, the distance is at
    most sqrt(2 log(det(V / lam)^(1/2) / delta)) + sqrt(lam), for noise that is 1-sub-Gaussian and
    |theta| <= 1. After t pulls det(V / lam) <= (1 + t / (d lam))^d, and both halves of the logarithm fit under
    2 d log((1 + t/lam) / delta). Where several candidates are chosen a round, t counts pulls, not rounds.

    >>> round(confidence_radius(5, 3000, delta=0.05), 2)
    11.49
    """
    lam, delta = check_number("lam", lam, above=0), check_number("delta", delta, above=0, below=1)
    return math.sqrt(
        2 * check_whole("d", d, least=1) * math.log((1 + check_whole("t", t, least=1) / lam) / delta)
    ) + math.sqrt(lam)


def sum_of_widths(d: int, T: int, *, lam: float = 1.0, delta: float, pulls: int = 1) -> float:
    """Sum over T rounds of the widths min(radius |x|_{V^-1}, 1) of those chosen, at most `pulls` a round.

    For pulls = 1 this is the paper's lemma:

        sqrt(2 d log(1 + T/(d lam))) (sqrt(2 d T log((1 + T/lam)/delta)) + sqrt(T lam))

    The radius never exceeds its last value and that is at least 1, so the sum is at most
    radius times the sum of min(|x|, 1), hence (Cauchy-Schwarz over pulls T terms) radius sqrt(pulls T Q) with
    Q the sum of min(|x|^2, 1). V changes once a round, by all its x together: log det grows by at least
    log(1 + S), S = sum |x|^2 in V before the round. With c = pulls min(1, 1/lam), the most a round can add to Q,
    concavity gives min(S, c) <= c / log(1 + c) log(1 + S), and log(det V / lam^d) is at most
    d log(1 + pulls T / (d lam)). The usual factor 2 covers c <= 2.5.
    The appendix states sqrt(2 d log(1 + kT/(d lam))) as a bound on a sum of |x|; it bounds the root of the sum of
    squares, and the root of the number of pulls comes with it.

    >>> round(sum_of_widths(5, 3000, delta=0.05)), round(sum_of_widths(5, 3000, delta=0.05, pulls=5))
    (5034, 15832)
    """
    d, T, pulls, lam = (
        check_whole("d", d, least=1),
        check_whole("T", T, least=1),
        check_whole("pulls", pulls, least=1),
        check_number("lam", lam, above=0),
    )
    most = pulls * min(1.0, 1 / lam)
    squares = max(2.0, most / math.log1p(most)) * d * math.log1p(pulls * T / (d * lam))
    return confidence_radius(d, pulls * T, lam=lam, delta=delta) * math.sqrt(pulls * T * squares)


def martingale_term(T: int, delta: float, *, pulls: int = 1) -> float:
    """Expected widths exceed those drawn by at most pulls sqrt(2 T log(1/delta)).

    With probability 1 - delta, summed over T rounds. Azuma-Hoeffding: Pr(D_T >= s) <= exp(-s^2 / (2 T c^2))
    (the paper misprints the sign), with steps of at most c = pulls, as each width is at most 1. Steps in fact
    lie in an interval of length c, which would save a factor 2.

    >>> round(martingale_term(3000, 0.05), 1)
    134.1
    """
    delta = check_number("delta", delta, above=0, below=1)
    return check_whole("pulls", pulls, least=1) * math.sqrt(2 * check_whole("T", T, least=1) * -math.log(delta))
