"""Files of models: listed types only, limits, and trees whose indices would leave their memory are refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from evenhand.errors import InvalidInput
from evenhand.rewards import estimator_files as files
from evenhand.rewards.estimator_files import from_bytes, from_text, to_bytes

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def changed(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The file with each part changed by its name and content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        for part in source.namelist():
            target.writestr(part, change(part, source.read(part)))
    return buffer.getvalue()


def with_nodes(data: bytes, field: str, value: int) -> bytes:
    """The file of a tree with this value in the first node of each array of nodes."""

    def change(name: str, content: bytes) -> bytes:
        array = np.load(io.BytesIO(content)) if name.endswith(".npy") else None
        if array is None or array.dtype.names is None or field not in array.dtype.names:
            return content
        array[field][0] = value
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    return changed(data, change)


TREES = [
    DecisionTreeRegressor(max_depth=3),
    RandomForestClassifier(3, random_state=0),
    ExtraTreesRegressor(3, random_state=0),
    GradientBoostingRegressor(n_estimators=3),
]


@pytest.mark.parametrize("model", [Ridge(), *TREES, HistGradientBoostingClassifier(max_iter=3)])
def test_a_file_is_the_same_every_time(model: Any) -> None:
    """Saved, loaded and saved again, or fitted twice: the same bytes, and the same predictions."""
    data = to_bytes(model.fit(X, Y))
    again = from_bytes(data)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert to_bytes(again) == data
    assert skops.io.loads(data, trusted=list(files.ALSO_TRUSTED)).n_features_in_ == 3  # skops reads it, too


@pytest.mark.parametrize("model", TREES)
@pytest.mark.parametrize(
    ("field", "value"), [("left_child", 10**6), ("right_child", 0), ("feature", 3), ("feature", -1)]
)
def test_a_tree_with_indices_beyond_it_is_refused(model: Any, field: str, value: int) -> None:
    """A child that is not in the tree, a cycle, and a feature that no context has."""
    data = with_nodes(to_bytes(model.fit(X, Y)), field, value)
    with pytest.raises(InvalidInput, match="does not exist"):
        from_bytes(data)


@pytest.mark.parametrize(("field", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 3)])
def test_a_histogram_tree_with_indices_beyond_it_is_refused(field: str, value: int) -> None:
    """The same for histogram gradient boosting."""
    data = with_nodes(to_bytes(HistGradientBoostingClassifier(max_iter=2).fit(X, Y)), field, value)
    with pytest.raises(InvalidInput, match="does not exist"):
        from_bytes(data)


def test_trees_are_checked_against_the_model_that_uses_them() -> None:
    """A boosted tree that claims more features for itself than its model has is refused: it gets the model's."""
    model = GradientBoostingRegressor(n_estimators=2).fit(np.hstack([X, X]), X[:, 0])
    model.n_features_in_ = 3
    model.estimators_[0, 0].tree_.__setstate__(_splitting_on(model.estimators_[0, 0].tree_, 5))
    with pytest.raises(InvalidInput, match="does not exist"):
        from_bytes(to_bytes(model))


def _splitting_on(tree: Any, feature: int) -> dict[str, Any]:
    state: dict[str, Any] = tree.__getstate__()
    nodes = state["nodes"].copy()
    nodes["feature"][0] = feature
    return {**state, "nodes": nodes}


@pytest.mark.parametrize(
    "model", [KNeighborsRegressor(), GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2), GaussianProcessRegressor()]
)
def test_types_that_are_not_listed_are_refused(model: Any) -> None:
    """The sentence names them, and what to do instead."""
    data = to_bytes(model.fit(X, Y.astype(float)))
    with pytest.raises(InvalidInput, match=r"trusted types, got .*sklearn\..*subclass evenhand"):
        from_bytes(data)


@pytest.mark.parametrize(
    ("module", "name"), [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("evenhand.lab.runs", "Case")]
)
def test_nothing_of_a_foreign_file_is_looked_up(module: str, name: str) -> None:
    """A file that names something else than scikit-learn is refused by its text."""

    def change(part: str, content: bytes) -> bytes:
        if part != "schema.json":
            return content
        schema = json.loads(content)
        schema["__module__"], schema["__class__"] = module, name
        return json.dumps(schema).encode()

    with pytest.raises(InvalidInput, match=r"trusted types|damaged"):
        from_bytes(changed(to_bytes(Ridge()), change))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"pickle", b"\x80\x04N."])
def test_what_is_no_file_is_refused(data: bytes) -> None:
    """With a sentence, not an error of zipfile."""
    with pytest.raises(InvalidInput, match="not a skops file"):
        from_bytes(data)


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that unpacks to more than the limit is not unpacked; one that is too long is not decoded."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * (files.MOST_UNPACKED + 1))
    assert len(bomb.getvalue()) < 100_000
    with pytest.raises(InvalidInput, match="bytes unpacked"):
        from_bytes(bomb.getvalue())
    with pytest.raises(InvalidInput, match="at most 4,194,304 bytes"):
        from_text("A" * (6 * 2**20))
    with pytest.raises(InvalidInput, match="base64"):
        from_text("no base64!")
    data = to_bytes(RandomForestClassifier(3).fit(X, Y))
    monkeypatch.setattr(files, "MOST_PARTS", 3)
    with pytest.raises(InvalidInput, match="at most 3 arrays"):
        from_bytes(data)


def test_what_models_take_in_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those used last are kept, as far as they fit together; the newest always is. Sixty-four of 64 MB took 4 GB."""
    one, two, three = (to_bytes(RandomForestRegressor(n).fit(X, Y)) for n in (2, 3, 4))
    first = files.loaded(one)
    assert files.loaded(one) is first
    with zipfile.ZipFile(io.BytesIO(three)) as archive:
        monkeypatch.setattr(files, "MOST_LOADED", 2 * sum(part.file_size for part in archive.infolist()))
    second = files.loaded(two)
    files.loaded(three)
    assert files.loaded(two) is second
    assert files.loaded(one) is not first
    monkeypatch.setattr(files, "MOST_LOADED", 1)
    third = files.loaded(three)
    assert files.loaded(three) is third
