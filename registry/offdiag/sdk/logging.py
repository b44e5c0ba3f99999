"""Logging runs: what a training job calls, also with what an importer read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Required, TypedDict

from numpy.typing import ArrayLike

from offdiag.domain.labels import LabelSet, in_their_order, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.runs import RunFacts, plain_entries, require_name
from offdiag.importers.imported import Imported, ImportedMatrix, provenance_tags
from offdiag.metrics.arguments import stated_matrix
from offdiag.metrics.confusion import notes_on_shares
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.registry import Registry
from offdiag.sdk.run import Run
from offdiag.sdk.target import current_author, current_commit, target
from offdiag.services.ingest.batch import GivenMatrix, Predictions


class AboutRun(TypedDict, total=False):
    """Arguments that all calls which log have in common, but for names, dataset and labels."""

    project: str | None
    model: str | None
    positive_label: object | None
    ordinal: bool
    hierarchy: Mapping[Any, Any] | None
    params: Mapping[str, Any] | None
    tags: Mapping[str, Any] | None
    client_key: str | None
    unique_name: bool
    url: str | None


class RunArguments(AboutRun):
    """The same of a run with its name."""

    name: Required[str]


def log_run(
    *,
    y_pred: object | None = None,
    y_true: object | None = None,
    name: str,
    project: str | None = None,
    dataset: str | None = None,
    model: str | None = None,
    y_score: object | None = None,
    sample_ids: object | None = None,
    slices: object | None = None,
    sample_weight: object | None = None,
    labels: Iterable[object] | None = None,
    positive_label: object | None = None,
    ordinal: bool = False,
    hierarchy: Mapping[Any, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    unique_name: bool = False,
    url: str | None = None,
) -> Run:
    """Store the predictions of a model in one call.

    `y_true` and `y_pred` are arrays of n labels (str, int, bool or whole floats) of any common
    kind; `y_true` may be left out when `dataset` has ground truth already, and with `sample_ids`
    and `labels` also before anybody knows the truth: `revise_truth` adds it. `y_score` is (n,) for
    the positive class of binary data, or (n, K) in label order; columns that have names, in a
    frame or as {class: scores}, are read by name. Without `y_pred` the
    class with the highest score is predicted, the first in label order of equal ones, or with one
    score for each sample the positive class from 0.5 on; `Run.decision_rule` tells which.
    `sample_ids` name the samples, so that runs pair and order does not matter; without them
    position counts. Series and DataFrames of pandas are paired by their index: the same labels in
    another order are brought into that of the first one, other labels are refused, and an array
    next to a Series goes by position. `slices` says more about the samples, by columns of few
    different values each ({"country": [...]}, or a
    frame); it is kept with them, and any part of them can be evaluated by it. `sample_weight`, n
    numbers of 0 or more, are the weights of the samples: metrics are then of sums of weights,
    intervals those of a survey, and exact tests are refused. They are kept with the run. `labels`
    declares the classes in order, `ordinal` that the order has a meaning, `hierarchy` which
    belong together ({"animal": ["cat", "dog"], "vehicle": {"road": ["car"]}}); a dataset keeps
    the first one it is given until `set_hierarchy`. `positive_label` is the positive one of two
    classes; of {0, 1}, {-1, 1} and {False, True} it is 1 or True by convention where a dataset
    has none. `client_key` makes the call repeatable. `unique_name` refuses a name that another run
    of the dataset has, also where several processes log at once. `url` is the registry, by default
    the configured one.

    Everything is stored, or nothing. Raises `InvalidInput` for unusable input, such as
    predictions that share no label with a truth whose labels nobody declared, and `Conflict` for
    contradictions to what is stored and for a name that is taken. Warns as `LabelNote` of whole
    floats and of classes that look alike.
    """
    at = target(url)
    about = RunArguments(
        project=project,
        name=name,
        model=model,
        params=params,
        tags=tags,
        client_key=client_key,
        unique_name=unique_name,
    )
    run_id = at.log_predictions(
        facts_of(at, about),
        None if dataset is None else require_name(dataset, "dataset"),
        Predictions(
            y_pred=y_pred,
            y_true=y_true,
            y_score=y_score,
            sample_ids=sample_ids,
            slices=slices,
            sample_weight=sample_weight,
            labels=labels,
            ordinal=ordinal,
            positive_label=positive_label,
            hierarchy=hierarchy,
        ),
    )
    return Run(at, run_id)


def start_run(
    *,
    name: str,
    dataset: str,
    project: str | None = None,
    model: str | None = None,
    labels: Iterable[object] | LabelSet | None = None,
    positive_label: object | None = None,
    ordinal: bool = False,
    hierarchy: Mapping[Any, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    unique_name: bool = False,
    url: str | None = None,
) -> OpenRun:
    """Open a run that takes its predictions batch by batch, as from a training loop.

    `labels` may be left out when the dataset exists. Raises `InvalidInput` and `Conflict`.
    """
    at = target(url)
    about = RunArguments(
        project=project,
        name=name,
        model=model,
        params=params,
        tags=tags,
        client_key=client_key,
        unique_name=unique_name,
    )
    opened = at.open_run(
        facts_of(at, about),
        require_name(dataset, "dataset"),
        _label_set(labels, ordinal=ordinal),
        None if positive_label is None else label_text(positive_label),
        hierarchy,
    )
    warn_of(label_notes(opened.labels.names))
    return OpenRun(at, opened)


def log_matrix(
    matrix: ArrayLike,
    *,
    orientation: str | None = None,
    name: str,
    dataset: str,
    labels: Iterable[object] | None = None,
    project: str | None = None,
    model: str | None = None,
    ordinal: bool = False,
    hierarchy: Mapping[Any, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    unique_name: bool = False,
    reported: Mapping[str, Any] | None = None,
    url: str | None = None,
) -> Run:
    """Store a confusion matrix whose predictions are not at hand.

    `matrix` is (K, K) of counts; `orientation` says what its rows are, "actual_rows" or
    "actual_columns", and is never guessed because a matrix cannot show it. A DataFrame whose two
    axes are named says it itself, and its cells are placed by the labels of its axes, as in
    `evaluate_matrix`. Its margins are compared with the class counts of the dataset's ground
    truth and the outcome is kept with the run. `reported` are metrics that were published with
    the matrix, as `audit_reported` takes them; they become tags of the run, and its page and
    `Run.reported` say whether they follow from the matrix. Raises `InvalidInput` and `Conflict`.
    """
    at = target(url)
    about = RunArguments(
        project=project,
        name=name,
        model=model,
        params=params,
        tags=tags,
        client_key=client_key,
        unique_name=unique_name,
    )
    if labels is not None and not isinstance(labels, LabelSet):
        labels = in_their_order(labels)
    given = stated_matrix(matrix, labels=labels, orientation=orientation)
    run_id = at.log_matrix(
        facts_of(at, about),
        require_name(dataset, "dataset"),
        GivenMatrix(
            given.matrix, given.orientation.value, given.labels, ordinal, hierarchy, reported
        ),
    )
    warn_of(notes_on_shares(given.matrix))
    warn_of(label_notes(map(label_text, given.labels or ())))
    return Run(at, run_id)


def _label_set(labels: Iterable[object] | LabelSet | None, *, ordinal: bool) -> LabelSet | None:
    if labels is None or isinstance(labels, LabelSet):
        return labels
    return LabelSet.declared(labels, ordinal=ordinal)


def facts_of(at: Registry, arguments: RunArguments) -> RunFacts:
    """What the arguments say about a run, with who logs it from which commit.

    Raises `InvalidInput`.
    """
    project = arguments["project"]
    return RunFacts(
        name=arguments["name"],
        project=project if project is not None else at.project,
        model=arguments["model"],
        client_key=arguments["client_key"],
        unique_name=arguments["unique_name"],
        params=plain_entries(arguments["params"], "params"),
        tags=plain_entries(arguments["tags"], "tags"),
        author=current_author(),
        git_sha=current_commit(),
    )


def log_imported(
    found: Imported,
    *,
    name: str,
    dataset: str,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    url: str | None = None,
) -> Run:
    """Store predictions or a matrix of another tool, with where they come from as tags.

    `tags` stand above those of the tool. Raises `InvalidInput` and `Conflict`.
    """
    content = found.content
    facts: dict[str, Any] = {
        "name": name,
        "dataset": dataset,
        "project": project,
        "model": model,
        "params": found.params,
        "tags": {**found.tags, **provenance_tags(found), **(tags or {})},
        "client_key": client_key,
        "url": url,
    }
    if isinstance(content, ImportedMatrix):
        return log_matrix(
            content.matrix,
            labels=content.labels,
            orientation=content.orientation.value,
            **facts,
        )
    return log_run(
        y_true=content.y_true,
        y_pred=content.y_pred,
        labels=content.labels,
        sample_ids=content.sample_ids,
        sample_weight=content.sample_weight,
        **facts,
    )
