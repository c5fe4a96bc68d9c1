"""Trees in a loaded model: their nodes hold raw indices, which scikit-learn follows without looking.

A crafted file could make it read memory that is not the tree's. So every index of every tree is checked: children lie
after their parent and within the tree, and features within the contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.errors import InvalidInput


def check_trees(estimator: Any) -> None:
    """InvalidInput if a tree anywhere in the estimator refers to a node or a feature that does not exist."""
    for part in _objects(estimator):
        name = type(part).__name__
        if name == "TreePredictor" or name == "Tree":
            continue  # checked with the model that it belongs to, below
        module = type(part).__module__
        if not module.startswith(("sklearn.tree.", "sklearn.ensemble.")):
            continue
        fields = vars(part)
        if "_predictors" in fields:
            _check_histogram_trees(part)
        elif "tree_" in fields:
            _check_tree(fields["tree_"], _width(part))
        elif module in ("sklearn.ensemble._gb", "sklearn.ensemble._forest") and "estimators_" in fields:
            _check_ensemble(part, boosted=module.endswith("_gb"))


def _check_ensemble(model: Any, *, boosted: bool) -> None:
    """The trees of a forest or of gradient boosting, which are given the model's own contexts unchecked."""
    width, members = _width(model), np.asarray(model.estimators_, dtype=object)
    if boosted and (members.ndim != 2 or members.shape[1] != 1):
        raise InvalidInput(f"the model must predict one number or one of two classes, got {members.shape} trees")
    for member in members.ravel():
        tree: Any = getattr(member, "tree_", None)
        _check_tree(tree, width)
        if boosted and (tree.n_outputs, tree.max_n_classes) != (1, 1):
            raise InvalidInput("the model's trees must have one output each")


def _check_tree(tree: Any, width: int) -> None:
    if type(tree).__name__ != "Tree" or not type(tree).__module__.startswith("sklearn.tree."):
        raise InvalidInput(f"the model has a {type(tree).__name__} where a tree should be")
    left, right = np.asarray(tree.children_left), np.asarray(tree.children_right)
    state = tree.__getstate__()
    if tree.node_count < 1 or tree.node_count != len(state["nodes"]):
        raise InvalidInput("the model has a tree without its nodes")
    _check_nodes(left, right, np.asarray(tree.feature), (left == -1) & (right == -1), width)


def _check_histogram_trees(model: Any) -> None:
    width = _width(model)
    for stage in model._predictors:
        if len(stage) != 1:
            raise InvalidInput(
                f"the model must predict one number or one of two classes, got {len(stage)} trees a stage"
            )
        nodes = stage[0].nodes
        names = ("left", "right", "feature_idx", "is_leaf", "is_categorical")
        if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not set(names) <= set(nodes.dtype.names or ()):
            raise InvalidInput("the model has a tree without its nodes")
        left, right, feature, leaf, category = (nodes[name].astype(np.int64) for name in names)
        if np.any(category[leaf == 0] != 0):
            raise InvalidInput(
                "the model splits by categories: contexts are numbers, fit it with categorical_features=None"
            )
        _check_nodes(left, right, feature, leaf != 0, width)


def _check_nodes(left: Any, right: Any, feature: Any, is_leaf: Any, width: int) -> None:
    n, inner = len(left), ~is_leaf
    own = np.arange(n)[inner]
    ahead = all(np.all((side[inner] > own) & (side[inner] < n)) for side in (left, right))
    if n == 0 or not ahead or np.any((feature[inner] < 0) | (feature[inner] >= width)):
        raise InvalidInput("the model is damaged: a tree refers to a node or a feature that does not exist")


def _width(model: Any) -> int:
    width = getattr(model, "n_features_in_", None)
    if not isinstance(width, (int, np.integer)) or isinstance(width, bool) or width < 1:
        raise InvalidInput(f"the model is damaged: {type(model).__name__} does not say how many features it has")
    return int(width)


def _objects(value: Any) -> Iterator[Any]:
    """Every object with attributes in a model, and in its lists, dicts and arrays."""
    waiting, seen = [value], set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel().tolist() if value.dtype == object else ())
        if hasattr(value, "__dict__") and not isinstance(value, type):
            yield value
            waiting.extend(vars(value).values())
