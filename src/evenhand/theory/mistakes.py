"""Mistake bounds: how often a metric learner can be wrong by more than epsilon about <alpha, u>.

In normalised units: with |alpha| <= B1 and |u| <= B2, the unit ball holds alpha / B1 and the accuracy is
a = epsilon / (B1 B2). A mistake is a guess off by more than a, followed by feedback.
"""

import math
from typing import Literal

from evenhand._internal.checks import check_number, check_one_of, check_whole


def log_ball_volume(n: int) -> float:
    """The logarithm of the volume of the unit ball, pi^(n/2) / Gamma(n/2 + 1).

    >>> round(math.exp(log_ball_volume(3)), 6) == round(4 / 3 * math.pi, 6)
    True
    """
    n = check_whole("n", n, least=1)
    return n / 2 * math.log(math.pi) - math.lgamma(n / 2 + 1)


def inscribed_radius(n: int, width: float) -> float:
    """A body whose widths are all at least `width` contains a ball of radius width / (n + 1).

    Steinhagen's inequality gives about width / (2 sqrt(n)); this simpler one costs only a logarithm and has a
    short proof. Let r be the radius of the largest ball inside, centred at 0. It touches the boundary at
    points whose unit normals a_i, n + 1 of them at most, have 0 in their hull: sum c_i a_i = 0 with c_i >= 0
    adding up to 1. Take the largest c_i, which is >= 1/(n + 1). Every x of the body has a_j.x <= r for all j,
    hence a_i.x = -sum_{j != i} (c_j / c_i) a_j.x >= -r (1 - c_i) / c_i. So the width along a_i is at most
    r / c_i <= (n + 1) r.

    >>> inscribed_radius(2, width=3.0)  # an equilateral triangle of height 3 has no larger circle
    1.0
    """
    return check_number("width", width, above=0) / (check_whole("n", n, least=1) + 1)


def projection_growth(n: int, width: float) -> float:
    """Leaving out one direction makes (n-1)-volume of n-volume: at most n (n + 1) / (2 width) times as much.

    The cylindrification lemma of Lobel, Paes Leme and Vladu, a factor 2 sharper. All widths of the body are
    at least `width`. Over each point of the projection stands a chord of the body; its length is a concave
    function on the projection, so its integral, the volume, is at least 1/n of its maximum times the
    projection's volume (the cone is the worst case). The longest chord is at least a diameter of the
    inscribed ball, 2 width / (n + 1).

    >>> projection_growth(1, width=2.0)  # an interval of length 2 becomes a point, whose 0-volume is 1
    0.5
    """
    return check_whole("n", n, least=1) / (2 * inscribed_radius(n, width))


def removed_fraction(*, centre_error: float = 0.0) -> float:
    """The share of the volume that each mistake takes away at least: 0.95 (1/e - centre_error).

    Approximate Gruenbaum. Let F(s) be the volume beyond s along the cut, measured from the centre; F^(1/n) is
    concave and vanishes at the far end h, so F(s) >= (1 - s/h)^n F(0). Gruenbaum: F(0) >= 1/e of the volume
    when the centre is the centroid; Bertsimas and Vempala: 1/e - t when it is off by t standard deviations (a
    sampled centroid; t = `centre_error`), and then h shrinks to (1 - t) h at most, since h is at least one
    standard deviation. Thin directions shift the cut by s <= sqrt(m) thin / 2, and a mistake larger than the
    accuracy a means a width of at least a - s, so h >= (a - s) / (n + 1). With thin <= a / (8 m (m + 1)^2)
    and m >= 2 this makes n s / ((1 - t) h) < 0.05, whence the 0.95. (The 1/e^2 that Lobel, Paes Leme and
    Vladu use in place of 0.95/e allows for s up to h / (n + 1).)

    >>> round(removed_fraction(), 3), round(removed_fraction(centre_error=0.1), 3)
    (0.349, 0.254)
    """
    return 0.95 * (math.exp(-1) - check_number("centre_error", centre_error, least=0, below=math.exp(-1)))


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
