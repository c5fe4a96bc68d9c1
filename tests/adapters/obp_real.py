"""obp's own code on feedback that evenhand wrote; run in an environment that has obp, with numpy alone beside it.

`python tests/adapters/obp_real.py FEEDBACK.npz [OUT.npz]` checks the feedback with obp's own check. It runs obp's IPS,
SNIPS, direct method and doubly robust estimators on the policy that chooses all actions alike and on the one that
played, and compares them with their formulas to 1e-9. OUT is a feedback of obp's synthetic data set, for the way back.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def main(source: str, target: str | None) -> None:
    """Check, estimate, compare; any difference is an AssertionError."""
    from obp.dataset import SyntheticBanditDataset
    from obp.ope import (
        DirectMethod,
        DoublyRobust,
        InverseProbabilityWeighting,
        OffPolicyEvaluation,
        SelfNormalizedInverseProbabilityWeighting,
    )
    from obp.utils import check_bandit_feedback_inputs

    feedback: dict[str, Any] = dict(np.load(source))
    feedback = {name: value.item() if value.ndim == 0 else value for name, value in feedback.items()}
    feedback.setdefault("position", None)
    names = ("context", "action", "reward", "position", "pscore", "action_context")
    check_bandit_feedback_inputs(**{name: feedback[name] for name in names})
    n, places = feedback["n_rounds"], feedback["pi_b"].shape[2]
    alike = np.full_like(feedback["pi_b"], 1 / feedback["n_actions"])
    position = np.zeros(n, dtype=int) if feedback["position"] is None else feedback["position"]
    estimators = [
        InverseProbabilityWeighting(),
        SelfNormalizedInverseProbabilityWeighting(),
        DirectMethod(),
        DoublyRobust(),
    ]
    evaluation = OffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=estimators)
    predicted = np.random.default_rng(0).uniform(size=(n, feedback["n_actions"], places))
    rows = np.arange(n)
    for dist in (alike, feedback["pi_b"]):
        found = evaluation.estimate_policy_values(action_dist=dist, estimated_rewards_by_reg_model=predicted)
        weights = dist[rows, feedback["action"], position] / feedback["pscore"]
        ips = float(np.mean(weights * feedback["reward"]))
        snips = float(np.sum(weights * feedback["reward"]) / np.sum(weights))
        assert abs(found["ipw"] - ips) < 1e-9, (found["ipw"], ips)
        assert abs(found["snipw"] - snips) < 1e-9, (found["snipw"], snips)
        model = np.sum(dist[rows, :, position] * predicted[rows, :, position], axis=1)
        residual = feedback["reward"] - predicted[rows, feedback["action"], position]
        assert abs(found["dm"] - model.mean()) < 1e-9, (found["dm"], model.mean())
        assert abs(found["dr"] - np.mean(model + weights * residual)) < 1e-9, found["dr"]
        print({name: round(float(value), 6) for name, value in found.items()})
    assert abs(ips - feedback["reward"].mean()) < 1e-9  # the policy that played
    if target is not None:
        data = SyntheticBanditDataset(n_actions=4, dim_context=3, random_state=1)
        log = data.obtain_batch_bandit_feedback(n_rounds=200)
        np.savez(target, **{name: value for name, value in log.items() if value is not None})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
