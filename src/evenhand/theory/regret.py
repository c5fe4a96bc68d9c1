"""Regret to the best fair policy: the paper's three theorems, term by term."""

import math
from dataclasses import dataclass
from typing import Required, Unpack

from evenhand._internal.checks import check_number, check_whole
from evenhand.theory.fairness import FairnessOptions, fairness_rounds, loss_of_wrong_distances


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


class RegretOptions(FairnessOptions, total=False):
    """Options of `regret_full` and `regret_many`; see `regret_terms`."""

    lam: float
    delta: Required[float]
    tight: bool


@dataclass(frozen=True)
class RegretTerms:
    """A regret bound in its parts; `total` is what the `regret_...` functions return.

    >>> RegretTerms(bad_rounds=10.0, inaccuracy=1.0, widths=4.0, luck=2.0).total
    17.0
    """

    bad_rounds: float  # rounds in which a distance that mattered was off by more than epsilon
    inaccuracy: float  # T rounds with distances off by at most epsilon
    widths: float  # twice the sum of confidence widths
    luck: float  # twice the martingale term

    @property
    def total(self) -> float:
        """The bound."""
        return self.bad_rounds + self.inaccuracy + self.widths + self.luck


def best_epsilon(k: int, T: int) -> float:
    """1 / (k^3 T), at which inaccurate distances cost 1 in all.

    The number of bad rounds then grows like log T.

    >>> best_epsilon(10, 1000)
    1e-06
    """
    return 1 / (check_whole("k", k, least=1) ** 3 * check_whole("T", T, least=1))


def regret_known_reward(
    k: int, d: int, T: int, epsilon: float, norm: float, *, tight: bool = False, **options: Unpack[FairnessOptions]
) -> float:
    """Theorem known-regret: `fairness_rounds` + k^3 epsilon T, for sure.

    A bad round costs at most 1: the best fair value is at most 1, and ours is at least 0, since we maximise
    the true reward over a set that contains p = 0. Any other round costs `loss_of_wrong_distances`. At
    `best_epsilon` this is O(k^2 d^2 log(|A'A|_F d k T)); the theorem's last line lost its k^2, which only a
    shared learner can spare.

    >>> round(regret_known_reward(5, 5, 3000, 0.01, 1.0, shared=True, tight=True))
    1549
    """
    rounds = fairness_rounds(k, d, epsilon, norm, **options)
    return rounds + check_whole("T", T, least=1) * loss_of_wrong_distances(k, epsilon, tight=tight)


def regret_terms(
    k: int,
    d: int,
    T: int,
    epsilon: float,
    norm: float,
    *,
    lam: float = 1.0,
    delta: float,
    pulls: int = 1,
    tight: bool = False,
    **options: Unpack[FairnessOptions],
) -> RegretTerms:
    """The parts of the bound when rewards are unknown and at most `pulls` candidates are chosen a round.

    Two events: the confidence sets hold, and the draw is not unlucky. Each fails with probability at most
    `delta`, so the bound fails with at most 2 delta (halve delta for a total of delta). The optimistic
    rewards rhat must lie between the true r and r + 2 w, w = min(radius |x|, 1), and in [-1, 1]:
    min(estimate + radius |x|, 1) does. (The paper caps the width instead; an estimate that is more than 1 too
    low then stays below r.) With p our probabilities, p* the best:
    - r.p* <= rhat.p* <= rhat.pi(rhat, true distances) <= rhat.p + loss <= r.p + 2 w.p + loss in a round that
      is not bad;
    - r.p* - r.p <= pulls + 2 w.p in a bad one, because rhat.p >= 0. The paper charges 1 "at most"; a single
      round can cost 2 (all on a reward of -1 where +1 was fair), but the excess is 2 w.p, and the sum over
      *all* rounds of 2 w.p is in the bound anyway: the printed constant stands.

    >>> terms = regret_terms(5, 5, 3000, 0.01, 1.0, delta=0.05, shared=True, tight=True)
    >>> round(terms.bad_rounds), round(terms.inaccuracy), round(terms.widths), round(terms.luck)
    (1249, 300, 10068, 268)
    """
    rounds = fairness_rounds(k, d, epsilon, norm, **options)
    return RegretTerms(
        bad_rounds=check_whole("pulls", pulls, least=1) * rounds,
        inaccuracy=check_whole("T", T, least=1) * loss_of_wrong_distances(k, epsilon, tight=tight),
        widths=2 * sum_of_widths(d, T, lam=lam, delta=delta, pulls=pulls),
        luck=2 * martingale_term(T, delta, pulls=pulls),
    )


def regret_full(k: int, d: int, T: int, epsilon: float, norm: float, **options: Unpack[RegretOptions]) -> float:
    """Theorem full-regret: C + k^3 epsilon T + 2 (sum of widths + martingale term).

    The last display of its proof. Holds with probability 1 - 2 delta; C is `fairness_rounds`. Derivation and
    parts: `regret_terms`.

    >>> round(regret_full(5, 5, 3000, 0.01, 1.0, delta=0.05, shared=True, tight=True))
    11884
    """
    return regret_terms(k, d, T, epsilon, norm, **options).total


def regret_many(k: int, d: int, T: int, epsilon: float, norm: float, **options: Unpack[RegretOptions]) -> float:
    """The appendix's theorem, where everybody may be chosen: k C + k^3 epsilon T + 2 (widths + luck).

    A bad round costs up to k, the martingale's steps are up to k, and `sum_of_widths` with pulls = k is
    O(d k sqrt(T) log(kT/delta)); the theorem prints k times that, d k sqrt(k^2 T) log(kT/delta). Inaccurate
    distances cost no more than with capacity 1. Holds with probability 1 - 2 delta.

    >>> round(regret_many(5, 5, 3000, 0.01, 1.0, delta=0.05, shared=True, tight=True))
    39548
    """
    return regret_terms(k, d, T, epsilon, norm, pulls=k, **options).total
