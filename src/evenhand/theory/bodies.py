"""Four facts about convex bodies in n dimensions, used by the mistake bound."""

import math

from evenhand._internal.checks import check_number, check_whole


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
