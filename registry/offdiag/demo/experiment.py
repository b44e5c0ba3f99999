"""What an experiment is, and how one of its trials becomes a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import FixedThresholdClassifier

from offdiag.domain.runs import Scalar
from offdiag.sdk.api import log_run
from offdiag.sdk.run import Run


class Classifier(Protocol):
    """The part of a scikit-learn classifier that is used here."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> object: ...
    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]: ...
    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Trial:
    """One model, and which columns of the data it sees (all where `features` is None)."""

    name: str
    model: Classifier
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)
    features: Sequence[int] | None = None


@dataclass(frozen=True)
class Experiment:
    """Data split into training and test cases, and the models tried on it.

    `data` is (n, features), `target` (n,) codes of `labels`; `train` and `test` are positions
    in them. Positions are also the sample ids, so that all runs pair case by case.
    """

    dataset: str
    labels: tuple[str, ...]
    data: NDArray[np.float64]
    target: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int
    trials: tuple[Trial, ...]
    positive_label: str | None = None

    def key_of(self, trial: Trial) -> str:
        """The same for every repetition of a trial, so that it is logged once."""
        return f"{self.dataset}/{trial.name}/seed {self.seed}"


def log_trial(experiment: Experiment, trial: Trial, *, url: str, project: str) -> Run:
    """Train one model and log what it predicts for the test cases."""
    columns = slice(None) if trial.features is None else list(trial.features)
    seen = experiment.data[:, columns]
    trial.model.fit(seen[experiment.train], experiment.target[experiment.train])
    scores = trial.model.predict_proba(seen[experiment.test])
    if experiment.positive_label is not None:
        scores = scores[:, experiment.labels.index(experiment.positive_label)]
    names = np.array(experiment.labels)
    return log_run(
        y_true=names[experiment.target[experiment.test]],
        y_pred=names[trial.model.predict(seen[experiment.test])],
        y_score=scores,
        sample_ids=experiment.test,
        labels=experiment.labels,
        positive_label=experiment.positive_label,
        project=project,
        dataset=experiment.dataset,
        name=trial.name,
        model=_name_of(trial.model),
        params={**trial.params, "training_cases": len(experiment.train)},
        tags={**trial.tags, "seed": experiment.seed},
        client_key=experiment.key_of(trial),
        url=url,
    )


def _name_of(model: object) -> str:
    """The class of the model; of a pipeline, the class of what predicts at its end.

    A threshold is a setting of a model and not a model.
    """
    if isinstance(model, FixedThresholdClassifier):
        return _name_of(model.estimator)
    steps = getattr(model, "steps", None)
    return type(steps[-1][1] if steps else model).__name__
