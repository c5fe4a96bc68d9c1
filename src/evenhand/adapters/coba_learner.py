"""CobaLearner: FairBandit in Coba's experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_whole, refusal
from evenhand.adapters.always_choosing import AlwaysChoosing
from evenhand.adapters.coba_features import FEATURES, CandidateFeatures
from evenhand.auditors import Auditor
from evenhand.auditors.auditor import arriving, as_auditor
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision
from evenhand.rewards import RewardModel, RidgeUCB

from coba.primitives import Learner  # isort: skip  # coba_features has said so if Coba is missing


class CobaLearner(Learner):  # type: ignore[misc]  # Coba has no types
    """A learner of Coba that plays FairBandit: every action of an interaction is a candidate, and one is chosen.

    policy: FairBandit, or a function with its arguments, such as `baselines.ignore_fairness`; it is made at the first
    interaction, when the number of features is known, with `settings`. features, norm: see `CandidateFeatures`.
    reward: makes the reward model of so many features; Coba's rewards should lie in [-1, 1]. auditor: reviews every
    decision, on the contexts of `CandidateFeatures`; an object, or a function of the number of features. Without one
    the learner hears nothing of fairness, and stays as cautious as it began.

    Coba's environments know no "nobody": the probabilities always sum to 1 (see `AlwaysChoosing`).

    >>> learner = CobaLearner(features=("a",), seed=3)
    >>> action, probability, info = learner.predict(None, [(1.0, 0.0), (0.0, 1.0)])
    >>> learner.learn(None, action, 0.5, probability, **info)
    >>> learner.bandit.rounds, learner.params["family"]
    (1, 'FairBandit')
    """

    def __init__(
        self,
        policy: Callable[..., FairBandit] = FairBandit,
        *,
        features: Sequence[str | int] = FEATURES,
        norm: float | None = None,
        reward: Callable[[int], RewardModel] = RidgeUCB,
        auditor: Auditor | Callable[[int], Auditor] | None = None,
        seed: int = 1,
        **settings: Any,
    ) -> None:
        if "capacity" in settings:
            raise InvalidInput("capacity must be left out: Coba's environments choose one action")
        if settings.get("mode", "lottery") != "lottery":
            raise InvalidInput(f"mode must be 'lottery' or left out: Coba draws an action, got {settings['mode']!r}")
        if not callable(policy) or not callable(reward):
            raise refusal("policy and reward", "functions of the number of features", (policy, reward))
        self._policy, self._reward, self._settings = policy, reward, settings
        self._encode = CandidateFeatures(features, norm=norm)
        self._auditor = auditor if auditor is None or callable(auditor) else as_auditor(auditor)
        self._seed = check_whole("seed", seed, least=0)
        self._bandit: FairBandit | None = None

    @property
    def params(self) -> Mapping[str, Any]:
        """What Coba records of the learner."""
        return {
            "family": getattr(self._policy, "__name__", str(self._policy)),
            "features": list(self._encode.features),
            "reviewed": self._auditor is not None,
            "seed": self._seed,
            **{
                name: value if isinstance(value, float | int | str) else str(value)
                for name, value in self._settings.items()
            },
        }

    @property
    def bandit(self) -> FairBandit:
        """The bandit that plays; there is one from the first interaction on."""
        if self._bandit is None:
            raise InvalidInput("the learner must have seen an interaction to have a bandit, got none yet")
        return self._bandit

    @property
    def shortened(self) -> int:
        """How often the vector of an action was longer than `norm`, and was shortened to it."""
        return self._encode.shortened

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, Any]]:
        """An action, its probability, and the decision for `learn`."""
        bandit, contexts = self._ready(context, actions)
        decision = bandit.decide(contexts)
        if not decision.chosen:  # the sum of the probabilities is 1 but for rounding
            decision = bandit.decide(contexts)
        if not decision.chosen:
            raise InvalidInput(
                "the policy must always choose somebody, got nobody twice: it must use `reward` as given"
            )
        (chosen,) = decision.chosen
        return actions[chosen], float(decision.probabilities[chosen]), {"decision": decision}

    def probabilities(self, context: Any, actions: Sequence[Any]) -> Floats:
        """The probabilities with which the actions would be chosen now, (k,); nothing changes."""
        bandit, contexts = self._ready(context, actions)
        return bandit.propose(contexts, number=bandit.rounds, rng=np.random.default_rng(0)).probabilities

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability with which `action` would be chosen now; nothing changes."""
        return float(self.probabilities(context, actions)[list(actions).index(action)])

    def learn(
        self, context: Any, action: Any, reward: float, probability: float | None, decision: Decision | None = None
    ) -> None:
        """Learn the outcome of a decision, and what the auditor says of it.

        Without the decision, as in learning from another policy's log, the reward model alone learns.
        """
        if decision is None:
            bandit, contexts = self._ready(context, [action])
            bandit.reward.learn(contexts, np.array([float(reward)]))
            return
        bandit = self.bandit
        bandit.learn(decision, rewards={decision.chosen[0]: float(reward)})
        if self._auditor is None:
            return
        if not isinstance(self._auditor, Auditor):
            self._auditor = as_auditor(self._auditor(bandit.n_features))
        for about, review in arriving(self._auditor, decision):
            bandit.learn(about, review=review)

    def _ready(self, context: Any, actions: Sequence[Any]) -> tuple[FairBandit, Floats]:
        """The bandit, made now if this is the first interaction, and the contexts."""
        contexts = self._encode(context, actions)
        if self._bandit is None:
            d = contexts.shape[1]
            made = {"capacity": 1, "seed": self._seed, "reward": AlwaysChoosing(self._reward(d))}
            self._bandit = self._policy(d, **made, **self._settings)
        return self._bandit, contexts
