"""The paper's bounds as numbers, with every constant explicit; the proofs are in docs/theory.md.

In the mistake bounds |alpha| <= B1 and |u| <= B2; in normalised units the unit ball holds alpha / B1, and the accuracy
is a = epsilon / (B1 B2). A mistake is a guess of <alpha, u> off by more than a, followed by feedback.

>>> round(fairness_rounds(5, 5, epsilon=0.01, norm=1.0, shared=True))  # whatever T and the contexts
1249
"""

import math
from dataclasses import dataclass
from typing import Literal, Required, TypedDict, Unpack

from evenhand._internal.checks import check_number, check_one_of, check_whole

Structure = Literal["full", "diagonal"]
Learner = Literal["projected_volume", "ellipsoid"]

# Mistakes of a metric learner.


def log_ball_volume(n: int) -> float:
    """The logarithm of the volume of the unit ball, pi^(n/2) / Gamma(n/2 + 1).

    >>> round(math.exp(log_ball_volume(3)), 6) == round(4 / 3 * math.pi, 6)
    True
    """
    n = check_whole("n", n, least=1)
    return n / 2 * math.log(math.pi) - math.lgamma(n / 2 + 1)


def inscribed_radius(n: int, width: float) -> float:
    """A body whose widths are all at least `width` contains a ball of radius width / (n + 1).

    >>> inscribed_radius(2, width=3.0)  # an equilateral triangle of height 3 has no larger circle
    1.0
    """
    return check_number("width", width, above=0) / (check_whole("n", n, least=1) + 1)


def projection_growth(n: int, width: float) -> float:
    """Leaving out one direction makes (n-1)-volume of n-volume: at most n (n + 1) / (2 width) times as much.

    The cylindrification lemma of Lobel, Paes Leme and Vladu, a factor 2 sharper; all widths are at least `width`.

    >>> projection_growth(1, width=2.0)  # an interval of length 2 becomes a point, whose 0-volume is 1
    0.5
    """
    return check_whole("n", n, least=1) / (2 * inscribed_radius(n, width))


def removed_fraction(*, centre_error: float = 0.0) -> float:
    """The share of the volume that each mistake takes away at least: 0.95 (1/e - centre_error).

    centre_error: how far sampled centroids may be off, in standard deviations.

    >>> round(removed_fraction(), 3), round(removed_fraction(centre_error=0.1), 3)
    (0.349, 0.254)
    """
    return 0.95 * (math.exp(-1) - check_number("centre_error", centre_error, least=0, below=math.exp(-1)))


def n_unknowns(d: int, structure: Structure = "full") -> int:
    """m, the number of unknowns of the metric: d (d + 1) / 2, or d when G is known to be diagonal.

    >>> n_unknowns(5), n_unknowns(5, "diagonal")
    (15, 5)
    """
    d = check_whole("d", d, least=1)
    check_one_of("structure", structure, ("full", "diagonal"))
    return d if structure == "diagonal" else d * (d + 1) // 2


def thinness(m: int, accuracy: float) -> float:
    """The width below which ProjectedVolume calls a direction thin: a^2 / (16 m (m + 1)^2), in normalised units.

    >>> f"{thinness(6, 0.01):.1e}"
    '2.1e-08'
    """
    m = check_whole("m", m, least=1)
    return check_number("accuracy", accuracy, above=0) ** 2 / (16 * m * (m + 1) ** 2)


def distance_estimator_mistakes(
    m: int,
    epsilon: float,
    bound_alpha: float,
    bound_u: float = 4.0,
    *,
    centre_error: float = 0.0,
    thin: float | None = None,
) -> float:
    """Mistakes of ProjectedVolume, the paper's DistanceEstimator: O(m log(m B1 B2 / epsilon)).

    With V_n the volume of the unit ball and q = 1 - `removed_fraction`, some 2.3 m ln(1/thin) and lower terms:

        N <= m + max_n [ln V_m - ln V_n + sum_{i=n+1..m} ln(i (i + 1) / (2 thin)) + n ln((n + 1) / thin)] / ln(1/q)

    thin: in normalised units, by default `thinness(m, a)`, at most a / (8 m (m + 1)^2). With m = 1 the set is an
    interval and the guess its middle: N <= 1 + log2(1/a).

    >>> round(distance_estimator_mistakes(15, 1e-4, 1.0))
    1249
    >>> distance_estimator_mistakes(1, 0.25, 1.0, 1.0)
    3.0
    """
    m = check_whole("m", m, least=1)
    accuracy = _accuracy(epsilon, bound_alpha, bound_u)
    removed = removed_fraction(centre_error=centre_error)
    if m == 1:
        return _interval_mistakes(accuracy)
    if accuracy >= 2:  # two points of the unit ball are never further apart
        return 0.0
    most = accuracy / (8 * m * (m + 1) ** 2)
    width = thinness(m, accuracy) if thin is None else check_number("thin", thin, above=0, most=most)
    growth, worst = 0.0, -math.inf
    for n in range(m, 0, -1):
        floor = log_ball_volume(n) + n * math.log(inscribed_radius(n, width))
        worst = max(worst, growth - floor)
        growth += math.log(projection_growth(n, width))
    return m + (log_ball_volume(m) + worst) / -math.log1p(-removed)


def ellipsoid_mistakes(m: int, epsilon: float, bound_alpha: float, bound_u: float = 4.0) -> float:
    """Mistakes of the ellipsoid learner with central cuts: O(m^2 log(m B1 B2 / epsilon)).

    The learner of Cohen, Lobel and Paes Leme (2016). With exp(-s) the factor by which a cut shrinks the volume,
    N <= (m/2) ln((2 m + 2) / a^2) / s, about m^2 ln((2 m + 2) / a^2); m = 1 is an interval. Deep cuts can make an
    axis shorter than the proof allows; a learner that wants this number moves them to the centre.

    >>> round(ellipsoid_mistakes(15, 1e-4, 1.0))
    5544
    """
    m = check_whole("m", m, least=1)
    accuracy = _accuracy(epsilon, bound_alpha, bound_u)
    if m == 1:
        return _interval_mistakes(accuracy)
    if accuracy >= 1:  # no half-width of the first ellipsoid exceeds it, so nothing is ever cut
        return 0.0
    shrink = math.log((m + 1) / m) - (m - 1) / 2 * math.log(m**2 / (m**2 - 1))
    return m / 2 * math.log(2 * (m + 1) / accuracy**2) / shrink


def _accuracy(epsilon: float, bound_alpha: float, bound_u: float) -> float:
    scale = check_number("bound_alpha", bound_alpha, above=0) * check_number("bound_u", bound_u, above=0)
    return check_number("epsilon", epsilon, above=0) / scale


def _interval_mistakes(accuracy: float) -> float:
    """Half the length starts at 1, is above a at every mistake and at most halved by it: 2^-(N-1) > a."""
    return 1 + math.log2(1 / accuracy) if accuracy < 1 else 0.0


# Unfair pairs and rounds, and the cost of inaccurate distances.

MISTAKES = {"projected_volume": distance_estimator_mistakes, "ellipsoid": ellipsoid_mistakes}


class FairnessOptions(TypedDict, total=False):
    """Options of the fairness bounds; see `fairness_rounds`."""

    structure: Structure
    shared: bool
    learner: Learner


def n_pairs(k: int) -> int:
    """k (k - 1) / 2, the number of unordered pairs.

    >>> n_pairs(5)
    10
    """
    k = check_whole("k", k, least=1)
    return k * (k - 1) // 2


def fairness_rounds(
    k: int,
    d: int,
    epsilon: float,
    norm: float,
    *,
    structure: Structure = "full",
    shared: bool = False,
    learner: Learner = "projected_volume",
) -> float:
    """Rounds in which a pair with feedback had its distance wrong by more than epsilon; all unfair ones are among them.

    The corollary to the paper's lemma on the distance estimators. norm: the bound on |A'A|_F that the learner has.
    With N its mistake bound at accuracy epsilon^2: N for each of k (k-1)/2 pairs, or N for one `shared` learner.

    >>> round(fairness_rounds(5, 5, 0.01, 1.0)), round(fairness_rounds(5, 5, 0.01, 1.0, shared=True))
    (12487, 1249)
    """
    check_one_of("learner", learner, MISTAKES)
    pairs = n_pairs(k)
    squared = check_number("epsilon", epsilon, above=0) ** 2
    mistakes = MISTAKES[learner](n_unknowns(d, structure), squared, norm)
    return mistakes * (min(pairs, 1) if shared else pairs)


def fairness_loss(k: int, d: int, epsilon: float, norm: float, **options: Unpack[FairnessOptions]) -> float:
    """How many times a pair is epsilon-unfair, over all rounds: k (k-1)/2 N, shared or not.

    The paper's two theorems on FairnessLoss, rewards known or not; T is not in it. What sharing saves for certain is
    rounds, not pairs: see `fairness_rounds`.

    >>> round(fairness_loss(5, 5, 0.01, 1.0))
    12487
    """
    rounds = fairness_rounds(k, d, epsilon, norm, **options)
    return rounds * n_pairs(k) if options.get("shared", False) else rounds


def loss_of_wrong_distances(k: int, epsilon: float, *, tight: bool = False) -> float:
    """Reward lost in a round whose distances are wrong by at most epsilon: k^3 epsilon.

    Or, if `tight`, k (k-1)/2 epsilon. For rewards in [-1, 1], any capacity.

    >>> loss_of_wrong_distances(5, 0.01), loss_of_wrong_distances(5, 0.01, tight=True)
    (1.25, 0.1)
    """
    epsilon = check_number("epsilon", epsilon, above=0)
    return n_pairs(k) * epsilon if tight else check_whole("k", k, least=1) ** 3 * epsilon


# Regret to the best fair policy: the paper's three theorems, term by term.


def confidence_radius(d: int, t: int, *, lam: float = 1.0, delta: float) -> float:
    """Distance of theta from its estimate, in V's norm: sqrt(2 d log((1 + t/lam)/delta)) + sqrt(lam).

    Where several candidates are chosen a round, t counts pulls, not rounds.

    >>> round(confidence_radius(5, 3000, delta=0.05), 2)
    11.49
    """
    lam, delta = check_number("lam", lam, above=0), check_number("delta", delta, above=0, below=1)
    d, t = check_whole("d", d, least=1), check_whole("t", t, least=1)
    return math.sqrt(2 * d * math.log((1 + t / lam) / delta)) + math.sqrt(lam)


def sum_of_widths(d: int, T: int, *, lam: float = 1.0, delta: float, pulls: int = 1) -> float:
    """Sum over T rounds of the widths min(radius |x|_{V^-1}, 1) of those chosen, at most `pulls` a round.

    For pulls = 1 this is the paper's lemma:

        sqrt(2 d log(1 + T/(d lam))) (sqrt(2 d T log((1 + T/lam)/delta)) + sqrt(T lam))

    >>> round(sum_of_widths(5, 3000, delta=0.05)), round(sum_of_widths(5, 3000, delta=0.05, pulls=5))
    (5034, 15832)
    """
    d, T, pulls = check_whole("d", d, least=1), check_whole("T", T, least=1), check_whole("pulls", pulls, least=1)
    lam = check_number("lam", lam, above=0)
    most = pulls * min(1.0, 1 / lam)
    squares = max(2.0, most / math.log1p(most)) * d * math.log1p(pulls * T / (d * lam))
    return confidence_radius(d, pulls * T, lam=lam, delta=delta) * math.sqrt(pulls * T * squares)


def martingale_term(T: int, delta: float, *, pulls: int = 1) -> float:
    """Expected widths exceed those drawn by at most pulls sqrt(2 T log(1/delta)), with probability 1 - delta.

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
    """1 / (k^3 T), at which inaccurate distances cost 1 in all, and the number of bad rounds grows like log T.

    >>> best_epsilon(10, 1000)
    1e-06
    """
    return 1 / (check_whole("k", k, least=1) ** 3 * check_whole("T", T, least=1))


def regret_known_reward(
    k: int, d: int, T: int, epsilon: float, norm: float, *, tight: bool = False, **options: Unpack[FairnessOptions]
) -> float:
    """Theorem known-regret: `fairness_rounds` + k^3 epsilon T, for sure.

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

    Confidence sets and the draw each fail with probability at most `delta`, so the bound fails with at most 2 delta.
    The optimistic rewards must lie between the true r and r + 2 min(radius |x|, 1), and in [-1, 1].

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
    """Theorem full-regret: C + k^3 epsilon T + 2 (sum of widths + martingale term), C = `fairness_rounds`.

    >>> round(regret_full(5, 5, 3000, 0.01, 1.0, delta=0.05, shared=True, tight=True))
    11884
    """
    return regret_terms(k, d, T, epsilon, norm, **options).total


def regret_many(k: int, d: int, T: int, epsilon: float, norm: float, **options: Unpack[RegretOptions]) -> float:
    """The appendix's theorem, where everybody may be chosen: k C + k^3 epsilon T + 2 (widths + luck).

    >>> round(regret_many(5, 5, 3000, 0.01, 1.0, delta=0.05, shared=True, tight=True))
    39548
    """
    return regret_terms(k, d, T, epsilon, norm, pulls=k, **options).total
