"""The demo: three experiments, logging their trials as runs, and judging these.

Their samples are digits, or measurements of tumours and of wines.

Anything left from an earlier call stays as it is, including changes by the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from offdiag.domain.runs import Scalar
from offdiag.domain.sample_content import LoggedSamples
from offdiag.domain.texts import CostName
from offdiag.inputs.slice_columns import read_slices
from offdiag.reports.scope import Condition, ReportScope, Side
from offdiag.sdk.dataset import log_samples
from offdiag.sdk.logging import log_run
from offdiag.sdk.run import Run
from offdiag.services.champions.promotions import approve, promotions_of
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import baseline_of, pin_baseline
from offdiag.services.reports.edition import RequestedEdition
from offdiag.services.schedules.edit import add_schedule, run_schedule
from offdiag.services.schedules.page import schedules_page
from offdiag.store.cost_matrices import list_costs
from offdiag.store.database import Database

PROJECT = "demo"
TUMOURS = "breast cancer"
COSTS = "missed tumour"
DIGITS = "digits, 3 and 8 rare"
IN_USE = "random forest"
"""The run on the digits that represents the model in use; the others are compared with it."""
REPORT = "weekly digits"
MONDAYS_AT_SIX = "0 6 * * 1"


class Classifier(Protocol):
    """The part of a scikit-learn classifier that is used here."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> object: ...
    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]: ...
    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Trial:
    """One model, and the columns of the data that it uses (all if `features` is None)."""

    name: str
    model: Classifier
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)
    features: Sequence[int] | None = None


@dataclass(frozen=True)
class Experiment:
    """Data split into training and test cases, and the models tried on it.

    `data` is (n, features), `target` (n,) codes of `labels`; `train` and `test` are positions in
    them. Positions are also the sample ids, so that all runs pair sample by sample.
    """

    dataset: str
    labels: tuple[str, ...]
    data: NDArray[np.float64]
    target: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int
    trials: tuple[Trial, ...]
    slices: Mapping[str, Sequence[str]]
    """The facts about each sample of the data, (n,), by column name."""
    positive_label: str | None = None

    def key_of(self, trial: Trial) -> str:
        """A client key that is the same for every repetition of a trial, which is logged once."""
        return f"{self.dataset}/{trial.name}/seed {self.seed}"


def log_trial(experiment: Experiment, trial: Trial, *, url: str) -> Run:
    """Train one model and log its predictions for the test cases."""
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
        slices={name: np.array(of)[experiment.test] for name, of in experiment.slices.items()},
        labels=experiment.labels,
        positive_label=experiment.positive_label,
        project=PROJECT,
        dataset=experiment.dataset,
        name=trial.name,
        model=_name_of(trial.model),
        params={**trial.params, "training_cases": len(experiment.train)},
        tags={**trial.tags, "seed": experiment.seed},
        client_key=experiment.key_of(trial),
        url=url,
    )


def _name_of(model: object) -> str:
    """The class of the model; for a pipeline, the class of its final estimator.

    A threshold is a setting of a model, not a model.
    """
    if isinstance(model, FixedThresholdClassifier):
        return _name_of(model.estimator)
    steps = getattr(model, "steps", None)
    return type(steps[-1][1] if steps else model).__name__


PAPER_SEED = 42
RARE_DIGITS = (3, 8)
RARE_SAMPLES = 40
"""Samples kept of each rare digit; each other digit has about 180."""
CAUTIOUS_THRESHOLD = 0.2
"""The cautious model predicts malignant from this probability on; the others from one half on."""


def experiments(seed: int) -> list[Experiment]:
    """All experiments with their data read and split; `log_trial` trains the models."""
    return [wine(), breast_cancer(seed), digits(seed)]


def wine() -> Experiment:
    """Zeng 2025 (Mathematics 13(16) 2609): cultivars predicted from alcohol alone, and from all.

    Split and model are seeded with 42 and the split is not stratified, as in the paper.
    """
    source = load_wine()
    positions = np.arange(len(source.target))
    train, test = train_test_split(positions, test_size=0.3, random_state=PAPER_SEED)
    return Experiment(
        dataset="wine cultivars",
        labels=tuple(str(name) for name in source.target_names),
        data=source.data,
        target=source.target,
        train=train,
        test=test,
        seed=PAPER_SEED,
        slices={
            "batch": _parts_of_classes(source.target, 3),
            **_terciles(source, "alcohol", "color_intensity", "proline"),
        },
        trials=(
            Trial(
                "alcohol only, random forest",
                RandomForestClassifier(random_state=PAPER_SEED),
                params={"features": "alcohol", "n_estimators": 100},
                tags={"source": "Zeng 2025"},
                features=[source.feature_names.index("alcohol")],
            ),
            Trial(
                "all features, random forest",
                RandomForestClassifier(random_state=PAPER_SEED),
                params={"features": "all", "n_estimators": 100},
            ),
            Trial(
                "all features, logistic regression",
                _scaled(LogisticRegression(max_iter=1000)),
                params={"features": "all", "C": 1.0},
            ),
            Trial("all features, naive Bayes", GaussianNB(), params={"features": "all"}),
        ),
    )


def breast_cancer(seed: int) -> Experiment:
    """Two classes, malignant being the one to find, and a constant prediction that never does."""
    source = load_breast_cancer()
    train, test = _stratified(np.arange(len(source.target)), source.target, 0.3, seed)
    return Experiment(
        dataset=TUMOURS,
        labels=tuple(str(name) for name in source.target_names),
        positive_label="malignant",
        data=source.data,
        target=source.target,
        train=train,
        test=test,
        seed=seed,
        slices=_terciles(source, "mean radius", "mean texture", "mean smoothness"),
        trials=(
            Trial(
                "logistic regression",
                _scaled(LogisticRegression(max_iter=1000)),
                params={"C": 1.0},
            ),
            Trial(
                "random forest",
                RandomForestClassifier(random_state=seed),
                params={"n_estimators": 100},
            ),
            Trial(
                "random forest, cautious",
                FixedThresholdClassifier(
                    RandomForestClassifier(random_state=seed),
                    threshold=CAUTIOUS_THRESHOLD,
                    pos_label=int(np.flatnonzero(source.target_names == "malignant")[0]),
                ),
                params={"n_estimators": 100, "threshold": CAUTIOUS_THRESHOLD},
            ),
            Trial(
                "decision stump",
                DecisionTreeClassifier(max_depth=1, random_state=seed),
                params={"max_depth": 1},
            ),
            Trial(
                "always the majority",
                DummyClassifier(strategy="most_frequent"),
                tags={"baseline": True},
            ),
        ),
    )


def digits(seed: int) -> Experiment:
    """Ten classes of which two are rare: some models gain accuracy by never predicting them."""
    source = load_digits()
    kept = _thinned(source.target, np.random.default_rng(seed))
    train, test = _stratified(kept, source.target, 0.4, seed)
    return Experiment(
        dataset=DIGITS,
        labels=tuple(str(name) for name in source.target_names),
        data=source.data,
        target=source.target,
        train=train,
        test=test,
        seed=seed,
        slices={"writers": _writers(len(source.target)), "ink": _ink(source.data)},
        trials=(
            Trial(
                "logistic regression",
                _scaled(LogisticRegression(max_iter=1000)),
                params={"C": 1.0},
            ),
            Trial(
                "logistic regression, strong penalty",
                _scaled(LogisticRegression(C=0.001, max_iter=1000)),
                params={"C": 0.001},
            ),
            Trial(
                "logistic regression, strong penalty, balanced",
                _scaled(LogisticRegression(C=0.001, max_iter=1000, class_weight="balanced")),
                params={"C": 0.001, "class_weight": "balanced"},
            ),
            Trial(
                "random forest, shallow",
                RandomForestClassifier(max_depth=5, random_state=seed),
                params={"n_estimators": 100, "max_depth": 5},
            ),
            Trial(
                "random forest",
                RandomForestClassifier(random_state=seed),
                params={"n_estimators": 100},
            ),
            Trial(
                "25 nearest neighbours",
                KNeighborsClassifier(25),
                params={"n_neighbors": 25},
            ),
        ),
    )


def _terciles(source: Any, *features: str) -> dict[str, Sequence[str]]:
    """The third of all samples that each sample is in by a measurement, by its name."""
    values = {name: source.data[:, list(source.feature_names).index(name)] for name in features}
    return _thirds({name.removeprefix("mean "): each for name, each in values.items()})


def _thirds(values: Mapping[str, NDArray[np.float64]]) -> dict[str, Sequence[str]]:
    n_cases = len(next(iter(values.values())))
    found = read_slices(values, n_samples=n_cases, bins=dict.fromkeys(values, 3))
    return {name: [each.levels[code] for code in each.codes] for name, each in found.items()}


def _parts_of_classes(target: NDArray[np.int64], n_parts: int) -> list[str]:
    """Which part of its class a sample is in, in the order of the file."""
    place = np.empty(len(target), dtype=np.int64)
    for code in np.unique(target):
        of_class = np.flatnonzero(target == code)
        place[of_class] = np.arange(len(of_class)) * n_parts // len(of_class)
    return [f"batch {number + 1}" for number in place.tolist()]


def _writers(n_images: int) -> list[str]:
    """The digits were written by thirteen people, one after the other: as many equal parts."""
    return [f"group {place * 13 // n_images + 1:02}" for place in range(n_images)]


def _ink(data: NDArray[np.float64]) -> Sequence[str]:
    return _thirds({"ink": data.mean(axis=-1)})["ink"]


def _scaled(model: object) -> Classifier:
    pipeline: Classifier = make_pipeline(StandardScaler(), model)
    return pipeline


def _stratified(
    positions: NDArray[np.int64], target: NDArray[np.int64], test_size: float, seed: int
) -> Sequence[NDArray[np.int64]]:
    parts: Sequence[NDArray[np.int64]] = train_test_split(
        positions, test_size=test_size, random_state=seed, stratify=target[positions]
    )
    return parts


def _thinned(target: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Positions of all samples except most of the rare digits."""
    dropped = [
        random.permutation(np.flatnonzero(target == digit))[RARE_SAMPLES:] for digit in RARE_DIGITS
    ]
    return np.setdiff1d(np.arange(len(target)), np.concatenate(dropped))


def judge_runs(database: Database, *, in_use: str) -> None:
    """Set costs for the errors on tumours, and pin the run with the id `in_use` for the digits."""
    with database.read() as session:
        known = {each.name for each in list_costs(session, project=PROJECT)}
    if COSTS not in known:
        add_costs(
            database,
            project=PROJECT,
            dataset=TUMOURS,
            name=COSTS,
            weights={
                "malignant": {"malignant": 0.0, "benign": 20.0},
                "benign": {"malignant": 1.0, "benign": 0.0},
            },
            note="A malignant tumour that is missed costs as much as twenty false alarms.",
        )
        set_default_costs(database, project=PROJECT, dataset=TUMOURS, wanted=CostName(COSTS))
    if baseline_of(database, project=PROJECT, dataset=DIGITS) is None:
        pin_baseline(database, in_use, author=None)


def approve_run_in_use(database: Database, *, in_use: str) -> None:
    """Make the evaluated run `in_use` champion of the digits, unless one was chosen before."""
    if not promotions_of(database, project=PROJECT, dataset=DIGITS).history:
        approve(database, in_use, reason="In use before the other models were tried.", author=None)


def plan_report(database: Database, *, in_use: str) -> RequestedEdition | None:
    """Report on the digits each Monday, and once now; None if that is already planned."""
    planned = schedules_page(database, project=PROJECT).entries
    if any(entry.schedule.name == REPORT for entry in planned):
        return None
    add_schedule(
        database,
        name=REPORT,
        cron=MONDAYS_AT_SIX,
        zone="UTC",
        scope=ReportScope(
            project=PROJECT,
            dataset=DIGITS,
            baseline=in_use,
            alerts=tuple(Condition("recall", Side.BELOW, 0.5, rare) for rare in ("3", "8")),
        ),
    )
    return run_schedule(database, project=PROJECT, name=REPORT)


_LARGEST_PIXEL = 16
_MEANS = 10
"""Of thirty measurements of a tumour, ten are means; the others describe how they vary."""


def log_content(experiment: Experiment, *, url: str, project: str) -> LoggedSamples:
    """Store images or measurements of the test samples; a second call changes nothing."""
    images = fields = None
    if experiment.data.shape[1] == load_digits().data.shape[1]:
        images = list(load_digits().images[experiment.test] / _LARGEST_PIXEL)
    else:
        source = load_wine() if experiment.dataset == "wine cultivars" else load_breast_cancer()
        names = [str(name) for name in source.feature_names]
        shown = names if len(names) <= 2 * _MEANS else names[:_MEANS]
        fields = [
            dict(zip(shown, row, strict=False))
            for row in source.data[experiment.test].round(4).tolist()
        ]
    return log_samples(
        dataset=experiment.dataset,
        ids=experiment.test,
        images=images,
        fields=fields,
        project=project,
        url=url,
    )
