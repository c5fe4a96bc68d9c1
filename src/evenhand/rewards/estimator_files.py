"""scikit-learn estimators as bytes, in the format of skops: no pickle, listed types only, the same bytes every time.

A file is data: types are looked up in a list before anything is made of it, and what skops cannot check of a type, we
do (`_tree_checks`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from evenhand._internal.archive import UNREADABLE
from evenhand._internal.checks import refusal
from evenhand.errors import InvalidInput, MissingExtra
from evenhand.rewards._tree_checks import check_trees

MOST_BYTES = 2**22
"""The largest file of a model that a desk is opened with."""

MOST_UNPACKED = 2**26
"""The largest content of any model, unpacked: 64 MB."""

MOST_LOADED = 2**28
"""The unpacked bytes of all models that a process keeps in memory: 256 MB."""

MOST_PARTS = 20_000
"""The largest number of arrays in one."""

ROOMS = (
    "calibration",
    "compose",
    "decomposition",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "feature_selection",
    "impute",
    "isotonic",
    "kernel_approximation",
    "kernel_ridge",
    "linear_model",
    "naive_bayes",
    "neural_network",
    "pipeline",
    "preprocessing",
    "svm",
    "tree",
    "utils._bunch",
    "_loss",
)
"""The modules of scikit-learn whose estimators are accepted, as far as skops trusts them: they compute and do nothing
else. Not among them are those that read files, search over other models, or keep trees of raw indices."""

ALSO_TRUSTED = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._bunch.Bunch",
    # Their indices are checked after loading, before anything is predicted.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
"""Types that skops leaves to its users to trust."""

PLAIN = ("builtins.", "collections.", "numpy.", "scipy.sparse.", "scipy.special.", "_loss.Cy")
"""What all of these consist of; `_loss` is what compiled losses of scikit-learn call their module."""

UNREADABLE_MODEL = (*UNREADABLE, ImportError)
"""Everything that reading a damaged or foreign file can raise."""

FIRST_DATE = (1980, 1, 1, 0, 0, 0)


def skops_io() -> Any:
    """The module skops.io; MissingExtra without it."""
    try:
        import skops.io
    except ModuleNotFoundError as error:
        raise MissingExtra(f"{error.name} is missing: this model needs pip install 'evenhand[models]'") from error
    return skops.io


def to_bytes(estimator: Any) -> bytes:
    """The estimator as bytes: the same for the same content, wherever its objects lie in memory."""
    io_of_skops = skops_io()
    try:
        return _canonical(io_of_skops.dumps(estimator))
    except UNREADABLE_MODEL as error:
        raise InvalidInput(f"{type(estimator).__name__} cannot be saved with skops: {error}") from None


def check_file(data: bytes) -> None:
    """InvalidInput if a file is damaged, too large, or names a type that is not listed; nothing is made of it."""
    try:
        _check_types(sorted({f"{part['__module__']}.{part['__class__']}" for part in _parts(_schema(data))}))
    except InvalidInput:
        raise
    except UNREADABLE_MODEL as error:
        raise InvalidInput(f"the model is not a skops file of scikit-learn, or was damaged: {error}") from None


def from_bytes(data: bytes) -> Any:
    """A new estimator from its bytes; InvalidInput as for `check_file`, or if what skops makes of it is damaged."""
    io_of_skops = skops_io()
    check_file(data)
    try:
        unknown = sorted(set(io_of_skops.get_untrusted_types(data=data)) - set(ALSO_TRUSTED))
        if unknown:
            raise _untrusted(unknown)
        estimator = io_of_skops.loads(data, trusted=list(ALSO_TRUSTED))
    except InvalidInput:
        raise
    except UNREADABLE_MODEL as error:
        raise InvalidInput(f"the model is not a skops file of scikit-learn, or was damaged: {error}") from None
    check_trees(estimator)
    return estimator


_loaded: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
"""Estimators by their bytes, with their unpacked sizes; those used last at the end."""
_turn = threading.Lock()


def loaded(data: bytes) -> Any:
    """The estimator of these bytes, shared: predict with it, never fit it. Those used last stay in memory."""
    with _turn:
        found = _loaded.pop(data, None)
        if found is not None:
            _loaded[data] = found
            return found[0]
    estimator = from_bytes(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(part.file_size for part in archive.infolist())
    with _turn:
        _loaded[data] = estimator, size
        while len(_loaded) > 1 and sum(size for _, size in _loaded.values()) > MOST_LOADED:
            _loaded.popitem(last=False)
    return estimator


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def as_text(data: bytes) -> str:
    """The bytes in base64."""
    return base64.b64encode(data).decode()


def from_text(text: Any, most: int = MOST_BYTES) -> bytes:
    """The bytes of a model in base64, no more than `most`."""
    if not isinstance(text, str) or not text:
        raise refusal("model", "the bytes of a skops file in base64", text)
    if len(text) > 4 * (most // 3 + 1):
        raise InvalidInput(f"model must be at most {most:,} bytes, got about {len(text) * 3 // 4:,}")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"model must be the bytes of a skops file in base64: {error}") from None


def _schema(data: bytes) -> dict[str, Any]:
    """The description of a file's objects, once its parts are few and small enough to be read."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        size = sum(part.file_size for part in parts)
        if len(parts) > MOST_PARTS or size > MOST_UNPACKED:
            raise InvalidInput(
                f"the model must have at most {MOST_PARTS:,} arrays and {MOST_UNPACKED:,} bytes unpacked, "
                f"got {len(parts):,} and {size:,}"
            )
        if len({part.filename for part in parts}) < len(parts):
            raise InvalidInput("the model has two parts of the same name")
        schema: dict[str, Any] = json.loads(archive.read("schema.json"))
        return schema


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__class__" in value and "__module__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _check_types(names: Iterable[str]) -> None:
    """InvalidInput if there is a type that is not listed."""
    rooms = tuple(f"sklearn.{room}." for room in ROOMS)
    unknown = [name for name in names if not f"{name}.".startswith((*PLAIN, *rooms))]
    if unknown:
        raise _untrusted(unknown)


def _untrusted(names: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"the model must consist of trusted types, got {', '.join(names[:5])}; trusted are scikit-learn's estimators "
        "of ensemble, linear_model, neural_network, pipeline, preprocessing, svm, tree and similar. For any other, "
        "subclass evenhand.rewards.RewardModel"
    )


def _canonical(data: bytes) -> bytes:
    """The file with its objects numbered in order, for skops names them by where they lie in memory."""
    schema = _schema(data)
    numbers: dict[Any, int] = {}
    files: dict[str, str] = {}

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if not isinstance(value, dict):
            return value
        # Whether two equal numbers or strings are one object is chance, and nothing depends on it.
        constant = value.get("content") if value.get("__loader__") == "JsonNode" else None
        changed = {key: renamed(item) for key, item in value.items()}
        if isinstance(value.get("__id__"), int):
            key = value["__id__"] if constant is None else f"constant {constant}"
            changed["__id__"] = numbers.setdefault(key, len(numbers) + 1)
        if isinstance(value.get("file"), str):
            file = value["file"]
            changed["file"] = files.setdefault(file, f"{len(files) + 1}.{file.rpartition('.')[2]}")
        return changed

    text = json.dumps(renamed(schema), separators=(",", ":"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for old, new in files.items():
            target.writestr(zipfile.ZipInfo(new, FIRST_DATE), _without_padding(source.read(old)), zipfile.ZIP_DEFLATED)
        target.writestr(zipfile.ZipInfo("schema.json", FIRST_DATE), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _without_padding(part: bytes) -> bytes:
    """An array of records with zeros between its fields, where memory happens to hold anything."""
    array = np.load(io.BytesIO(part), allow_pickle=False)
    if array.dtype.names is None:
        return part
    clean = np.zeros(array.shape, dtype=array.dtype)
    for name in array.dtype.names:
        clean[name] = array[name]
    buffer = io.BytesIO()
    np.save(buffer, clean, allow_pickle=False)
    return buffer.getvalue()
