"""RewardSettings: which reward model a desk has, its options, and the file of a model that was brought along."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from evenhand._internal.checks import check_one_of, refusal
from evenhand.errors import InvalidInput
from evenhand.rewards import KnownReward, LogisticUCB, Predictor, RewardModel, RidgeUCB
from evenhand.rewards.estimator_files import as_text, digest_of, from_text

RewardName = Literal["RidgeUCB", "LogisticUCB", "Predictor", "KnownReward"]

MODELS: dict[str, type[RewardModel]] = {
    "RidgeUCB": RidgeUCB,
    "LogisticUCB": LogisticUCB,
    "Predictor": Predictor,
    "KnownReward": KnownReward,
}

NOT_OPTIONS = ("self", "n_features", "model")

Options = Mapping[str, Any]


@dataclass(frozen=True)
class RewardSettings:
    """The reward model of a desk. Make it with `RewardSettings.create`, which checks it."""

    kind: RewardName = "RidgeUCB"
    options: Options = field(default_factory=dict)
    """Arguments of the class."""
    digest: str | None = None
    """The SHA-256 of the model's file."""
    model: bytes | None = field(default=None, compare=False, repr=False)
    """The file. Only the first event of a desk has it; other events name it by its digest."""

    @classmethod
    def create(cls, value: Any) -> RewardSettings:
        """From None (the default), a name, a new reward model, or {"kind": name, "model": base64, option: value}."""
        if value is None:
            return cls()
        if isinstance(value, RewardSettings):
            return value
        if isinstance(value, RewardModel):
            return cls._of_model(value)
        if isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, Mapping):
            raise refusal("reward", 'a name, a reward model, or {"kind": name, option: value, ...}', value)
        options = dict(value)
        kind = options.pop("kind", None)
        check_one_of("the kind of reward", kind, get_args(RewardName))
        text, digest = options.pop("model", None), options.pop("model_sha256", None)
        _check_options(kind, options)
        if kind != "Predictor":
            if text is not None or digest is not None:
                raise InvalidInput(f"model must be left out with reward {kind!r}: only Predictor has one")
            return cls(kind, options)
        if text is None and digest is None:
            raise InvalidInput("a Predictor needs model, the bytes of a skops file in base64")
        data = None if text is None else from_text(text)
        found = digest if data is None else digest_of(data)
        if digest not in (None, found):
            raise InvalidInput(f"model must have the SHA-256 {digest}, got {found}")
        return cls(kind, options, found, data)

    @classmethod
    def _of_model(cls, model: RewardModel) -> RewardSettings:
        kind = type(model).__name__
        if MODELS.get(kind) is not type(model):
            raise refusal("reward", f"one of {', '.join(MODELS)}; a desk can be made again of no other", model)
        if getattr(model, "n_outcomes", 0):
            raise InvalidInput(
                f"reward must be a new model, got one that has learned {getattr(model, 'n_outcomes', 0)} outcomes; "
                "import the decisions that it learned from"
            )
        return cls.create(model.recipe())

    @property
    def is_complete(self) -> bool:
        """Whether the model can be made: not from an event that only has the digest of its file."""
        return self.digest is None or self.model is not None

    def make(self, n_features: int) -> RewardModel:
        """A new model for contexts of this length."""
        if self.kind == "KnownReward":
            return KnownReward(self.options.get("theta"))  # type: ignore[arg-type]  # which it refuses
        if self.kind == "Predictor":
            return Predictor(self.model, n_features, **self.options)
        return MODELS[self.kind](n_features, **self.options)  # type: ignore[call-arg]  # the two others have it

    def to_dict(self, *, with_model: bool = True) -> dict[str, Any]:
        """As JSON; without the file, only its digest."""
        record: dict[str, Any] = {"kind": self.kind, **self.options}
        if self.digest is None:
            return record
        if with_model and self.model is not None:
            return record | {"model": as_text(self.model)}
        return record | {"model_sha256": self.digest}

    def shown(self) -> dict[str, Any]:
        """For people: the file by its digest and its size."""
        record = self.to_dict(with_model=False)
        return record if self.model is None else record | {"model_bytes": len(self.model)}


def _option_names(kind: str) -> list[str]:
    return [name for name in inspect.signature(MODELS[kind]).parameters if name not in NOT_OPTIONS]


def _check_options(kind: str, options: Options) -> None:
    known = _option_names(kind)
    unknown = sorted(str(name) for name in options if name not in known)
    if unknown:
        raise InvalidInput(
            f"unknown option {', '.join(unknown)} of reward {kind!r}; its options are {', '.join(known)}"
        )
