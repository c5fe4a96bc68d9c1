"""`evenhand ledger open`: a new desk from options and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from evenhand.cli.main import main
from evenhand.desk import Desk


def test_a_desk_with_a_model_and_a_metric_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file of a model is the desk's reward model, and a matrix its metric."""
    contexts = np.array([[0.0, 1.0], [1.0, 0.0]])
    skops.io.dump(LogisticRegression().fit(contexts, [0, 1]), tmp_path / "scorer.skops")
    (tmp_path / "metric.json").write_text(json.dumps([[0.5, 0.0], [0.0, 0.25]]))
    chosen = [f"reward.model={tmp_path / 'scorer.skops'}", "reward.kind=Predictor", "reward.refit_every=20"]
    chosen += ["features=income,debt", f"prior={tmp_path / 'metric.json'}", "metric=KnownMetric"]
    command = ["ledger", "open", "loans", "--data", str(tmp_path / "data")]
    assert main([*command, *(word for text in chosen for word in ("--set", text))]) == 0
    assert "2 features, capacity 1, metric KnownMetric, reward Predictor" in capsys.readouterr().out
    with Desk.open(f"sqlite:///{tmp_path}/data/ledger.db", "loans") as desk:
        assert desk.settings.reward.options == {"refit_every": 20}
        np.testing.assert_allclose(desk.metric().matrix, [[0.5, 0.0], [0.0, 0.25]], atol=1e-12)
        assert desk.projection.bandit.reward.estimate(contexts)[1] > 0.5


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("reward.model=no-such-file", "cannot be read"),
        ("prior=no-such-file", "cannot be read"),
        ("reward=Boosting", "kind of reward must be"),
        ("capacity", "NAME=VALUE"),
    ],
)
def test_bad_settings_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str, sentence: str
) -> None:
    """With a sentence, and no desk is created."""
    command = ["ledger", "open", "loans", "--data", str(tmp_path), "--set", "n_features=2", "--set", setting]
    with pytest.raises(SystemExit):
        main(command)
    assert sentence in capsys.readouterr().err


def test_a_name_that_is_taken_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is one desk of a name."""
    command = ["ledger", "open", "loans", "--data", str(tmp_path), "--set", "n_features=2"]
    assert main(command) == 0
    with pytest.raises(SystemExit):
        main(command)
    assert "there is a desk 'loans' already" in capsys.readouterr().err
