"""Mistake bounds: how often a metric learner can be wrong by more than epsilon about <alpha, u>.

In normalised units: with |alpha| <= B1 and |u| <= B2, the unit ball holds alpha / B1 and the accuracy is
a = epsilon / (B1 B2). A mistake is a guess off by more than a, followed by feedback.
"""

import math
from typing import Literal

from evenhand._internal.checks import check_number, check_one_of, check_whole
from evenhand.theory.bodies import inscribed_radius, log_ball_volume, projection_growth, removed_fraction

Structure = Literal["full", "diagonal"]


def n_unknowns(d: int, structure: Structure = "full") -> int:
    """m, the number of unknowns of the metric: d (d + 1) / 2, or d when G is known to be diagonal.

    The paper flattens G = A'A into d^2 entries. G is symmetric, and svec (upper triangle, off-diagonals times
    sqrt(2)) keeps all inner products of symmetric matrices: <svec G, svec zz'> = <G, zz'> = z'Gz and
    |svec G| = |G|_F. So m unknowns do, with the same B1 = |G|_F and the same B2 = max |zz'|_F = max |z|^2 <= 4.
    Diagonal: alpha = diag G and u = z * z, whose norm is at most |z|^2 as well.

    >>> n_unknowns(5), n_unknowns(5, "diagonal")
    (15, 5)
    """
    d = check_whole("d", d, least=1)
    check_one_of("structure", structure, ("full", "diagonal"))
    return d if structure == "diagonal" else d * (d + 1) // 2


def thinness(m: int, accuracy: float) -> float:
    """The width below which ProjectedVolume calls a direction thin: a^2 / (16 m (m + 1)^2).

    In normalised units. The proof here needs no more than a / (8 m (m + 1)^2), which is larger: see
    `distance_estimator_mistakes`.

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

    The paper quotes it from Lobel, Paes Leme and Vladu (2017) without constants. The knowledge set K starts
    inside the unit ball; L, of dimension n, is what is left after taking out the thin directions, and the
    potential is the n-volume of K projected on L, whose widths are all >= `thin`.
    - Start: at most V_m, the volume of the unit ball.
    - A mistake that makes no new direction thin keeps at most q = 1 - `removed_fraction` of it.
    - A round with new thin directions: K only shrinks, and before the round all widths were >= `thin`, so
      each direction multiplies the potential by at most `projection_growth(i, thin)`, i being the dimension
      it leaves. This holds for cuts of any depth. There are at most m such rounds.
    - As long as n >= 1 the potential is at least V_n inscribed_radius(n, thin)^n; at n = 0 no mistake is
      possible.

    Together, with V_n the volume of the unit ball, some 2.3 m ln(1/thin) and lower terms:

        N <= m + max_n [ln V_m - ln V_n + sum_{i=n+1..m} ln(i (i + 1) / (2 thin)) + n ln((n + 1) / thin)] / ln(1/q)

    `thin` is in normalised units: by default `thinness(m, a)`, at most a / (8 m (m + 1)^2). `centre_error` is how
    far sampled centroids may be off, in standard deviations, in every round. With m = 1 the set is an interval
    and the guess its middle: N <= 1 + log2(1/a).

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

    The learner of Cohen, Lobel and Paes Leme (2016). It cuts through the centre, and only when the half-width
    sqrt(u'Pu) exceeds a; a mistake implies that. With b = Pu / sqrt(u'Pu), a cut and its inverse are

        P'    = m^2/(m^2 - 1) (P - 2/(m + 1) bb')
        P'^-1 = (1 - 1/m^2) (P^-1 + 2/(m - 1) uu' / u'Pu)

    As |u| <= 1 and u'Pu > a^2, the inverse y of the smallest eigenvalue obeys
    y' <= (1 - 1/m^2) (y + 2 / ((m - 1) a^2)); starting from 1 it never passes the fixed point 2 (m + 1) / a^2.
    So the volume stays above (a^2 / (2 m + 2))^(m/2) of the first, while each cut multiplies it by
    m/(m + 1) (m^2/(m^2 - 1))^((m - 1)/2) = exp(-s), s > 1/(2 m + 2). Together:

        N <= (m/2) ln((2 m + 2) / a^2) / s, about m^2 ln((2 m + 2) / a^2)

    m = 1 is an interval: N <= 1 + log2(1/a). Deep cuts can make an axis shorter than this proof allows; a learner
    that wants this number moves them to the centre.

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
