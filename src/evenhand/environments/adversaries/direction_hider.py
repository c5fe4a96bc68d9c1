"""DirectionHider: lets the policy believe it knows the metric, then shows what it has never seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from evenhand.environments.checks import whole
from evenhand.environments.contexts.source import ContextSource, Floats, Scene
from evenhand.errors import InvalidInput

Hide = Literal["narrowest", "widest"]


class DirectionHider(ContextSource):
    """Contexts of `source` without certain directions of the true metric, until their round has come.

    reveal_at: the rounds at which a hidden direction is shown, one each. hide: "narrowest", the i-th is the direction
    of A's i-th smallest singular value, where people differ least and a policy that has not seen it thinks they
    differ more: late violations; or "widest", by the largest: late regret alone. No context has any component in a
    direction before its round. One direction must be left when all are hidden, so len(reveal_at) < d. Norms are the
    source's: what is left of a context is stretched to the length it had.

    >>> from evenhand.environments.contexts import Sphere
    >>> hider = DirectionHider(Sphere(2), reveal_at=[100])
    >>> A = np.array([[1.0, 0.0], [0.0, 0.2]])
    >>> early, late = (hider.draw(Scene(5, t, A=A), np.random.default_rng(0)) for t in (99, 100))
    >>> bool(np.allclose(early[:, 1], 0.0)), bool(np.allclose(late[:, 1], 0.0))
    (True, False)
    """

    def __init__(self, source: ContextSource, *, reveal_at: Sequence[int] = (500,), hide: Hide = "narrowest") -> None:
        super().__init__(source.n_features)
        self.source = source
        self.reveal_at = tuple(whole("reveal_at", t, least=0) for t in reveal_at)
        if len(self.reveal_at) >= source.n_features:
            raise InvalidInput(
                f"{len(self.reveal_at)} directions are to be hidden of {source.n_features}; one must be left"
            )
        if hide not in get_args(Hide):
            raise InvalidInput(f"hide is {hide!r}; allowed are {' and '.join(map(repr, get_args(Hide)))}")
        self.hide: Hide = hide

    def hidden(self, round: int, A: Floats) -> Floats:
        """The directions hidden in this round, orthonormal rows, (h, d)."""
        directions = np.linalg.svd(A, full_matrices=True)[2]
        ordered = directions[::-1] if self.hide == "narrowest" else directions
        return ordered[[i for i, t in enumerate(self.reveal_at) if round < t]]

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d), with nothing in the hidden directions."""
        if scene.A is None:
            raise InvalidInput("a hider of directions needs the truth: A of the scene is missing")
        contexts = self.source.draw(scene, rng)
        if scene.round >= max(self.reveal_at, default=0):
            return contexts
        hidden = self.hidden(scene.round, scene.A)
        left = contexts - contexts @ hidden.T @ hidden
        left -= left @ hidden.T @ hidden  # once more, for what rounding left when little was left
        lengths = np.linalg.norm(left, axis=1, keepdims=True)
        wanted = np.linalg.norm(contexts, axis=1, keepdims=True)
        return np.asarray(left * (wanted / np.where(lengths > 1e-9, lengths, np.maximum(wanted, 1e-9))))
