"""Logging runs: the calls that a training job makes, and the one for imported results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from numpy.typing import ArrayLike

from offdiag.domain.labels import LabelSet, in_their_order, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.runs import RunFacts, name_or_default, plain_entries, require_name
from offdiag.importers.imported import Imported, ImportedMatrix, provenance_tags
from offdiag.metrics.arguments import stated_matrix
from offdiag.metrics.confusion import notes_on_matrix
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.registry import Registry
from offdiag.sdk.run import Run
from offdiag.sdk.target import current_author, current_commit, target
from offdiag.services.ingest.batch import GivenMatrix, Predictions


class AboutRun(TypedDict, total=False):
    """Arguments shared by all logging calls, except names, dataset and labels."""

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


class RunArguments(AboutRun, total=False):
    """The shared arguments of one run, with its name."""

    name: str | None


def log_run(
    *,
    y_pred: object | None = None,
    y_true: object | None = None,
    name: str | None = None,
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
    """Store the predictions of a model and return the `Run`. Everything is stored, or nothing.

    * `y_pred`: n predicted labels (str, int, bool or whole floats) in an array of any common kind;
      for several labels per sample, n sets, or an (n, q) table of 0 and 1. Without it the scores
      predict: the class with the highest score, the first in label order if several are equal;
      with one score per sample, the positive class from 0.5 on. `Run.decision_rule` returns the
      rule that was used.
    * `y_true`: n actual labels, like `y_pred`. Not needed if `dataset` has ground truth already,
      nor if `sample_ids` and `labels` are given and the truth is not known yet: `revise_truth`
      adds it.
    * `name`: the name of the run. Default: `model` unless the name has to be unique, else
      `client_key`, else one with the time in UTC, such as "run 2026-12-01 14:05:09 k3f9".
    * `project`: the project of the dataset. Default: the configured one.
    * `dataset`: the name of the dataset. Default: one shared by all runs with equal ground truth.
    * `model`: the name of the model.
    * `y_score`: scores, (n,) of the positive class of two, or (n, K) in label order. Columns with
      names, in a frame or as {class: scores}, are matched by name.
    * `sample_ids`: n identifiers (int or str). Runs are paired by them, in any order. Default:
      samples are identified by position.
    * `slices`: columns with few different values each, such as `{"country": ["DE", "FR"]}`, or a
      frame. They are stored with the samples, and every slice can be evaluated separately.
    * `sample_weight`: n numbers of 0 or more, stored with the run. Metrics are then computed from
      sums of weights, intervals are those of a survey, and exact tests are refused.
    * `labels`: the classes in order. Default: those of the dataset, else the sorted labels found.
    * `positive_label`: the positive class of two. Default: that of the dataset, else by convention
      1 or True of {0, 1}, {-1, 1} and {False, True}.
    * `ordinal`: whether the order of `labels` has a meaning.
    * `hierarchy`: groups of classes, such as
      `{"animal": ["cat", "dog"], "vehicle": {"road": ["car"]}}`. A dataset keeps the first one it
      is given until `set_hierarchy`.
    * `params`, `tags`: mappings from names to text, numbers, booleans or None. Nested names get
      dots.
    * `client_key`: a key of your choice that makes the call repeatable: a second call finds the
      run.
    * `unique_name`: refuse a name that another run of the dataset has, also if several processes
      log at the same time.
    * `url`: the registry. Default: the configured one.

    pandas Series and DataFrames are paired by their index: the same labels in another order are
    put into the order of the first argument, other labels are refused. An array next to a Series
    is paired by position.

    Raises `InvalidInput` for unusable input, such as predictions that share no label with a truth
    whose labels were not declared, and `Conflict` for a contradiction to stored data and for a
    name that is taken. Warns with `LabelNote` about whole floats and about classes that look
    alike.
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
    name: str | None = None,
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
    """Open a run that takes predictions batch by batch, as in a training loop.

    Returns an `OpenRun`: call its `log` for each batch, in a `with` block that finishes the run.

    * `dataset`: the name of the dataset.
    * `labels`: the classes in order. Not needed if the dataset exists.
    * `name`, `project`, `model`, `positive_label`, `ordinal`, `hierarchy`, `params`, `tags`,
      `client_key`, `unique_name`, `url`: as in `log_run`.

    Raises `InvalidInput` and `Conflict` as `log_run` does.
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
        None if labels is None else LabelSet.declared(labels, ordinal=ordinal),
        None if positive_label is None else label_text(positive_label),
        hierarchy,
    )
    warn_of(label_notes(opened.labels.names))
    return OpenRun(at, opened)


def log_matrix(
    matrix: ArrayLike,
    *,
    orientation: str | None = None,
    name: str | None = None,
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
    """Store a confusion matrix without its predictions, and return the `Run`.

    The margins of the matrix are compared with the class counts of the dataset's ground truth, and
    the outcome is stored with the run.

    * `matrix`: (K, K) counts, or a DataFrame, whose cells are placed by the labels of its axes as
      in `evaluate_matrix`.
    * `orientation`: what the rows are, "actual_rows" or "actual_columns". Required unless the axes
      of a DataFrame are named: a matrix cannot show it, so it is never guessed.
    * `dataset`: the name of the dataset.
    * `labels`: the classes in the order of the axes. Default: those of a DataFrame, else those of
      the dataset.
    * `reported`: metrics published with the matrix, as `audit_reported` takes them. They become
      tags of the run; its page and `Run.reported` say whether they follow from the matrix.
    * `name`, `project`, `model`, `ordinal`, `hierarchy`, `params`, `tags`, `client_key`,
      `unique_name`, `url`: as in `log_run`.

    Raises `InvalidInput` and `Conflict`.
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
    warn_of(notes_on_matrix(given.matrix))
    warn_of(label_notes(map(label_text, given.labels or ())))
    return Run(at, run_id)


def given_name(arguments: RunArguments) -> str:
    """The name in these arguments of a logging call, else the default one."""
    return name_or_default(
        arguments.get("name"),
        model=arguments.get("model"),
        client_key=arguments.get("client_key"),
        unique_name=arguments.get("unique_name", False),
    )


def facts_of(at: Registry, arguments: RunArguments) -> RunFacts:
    """What the arguments say about a run, with the user and the commit that logs it.

    Raises `InvalidInput`.
    """
    project = arguments["project"]
    return RunFacts(
        name=given_name(arguments),
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
    name: str | None = None,
    dataset: str,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    url: str | None = None,
) -> Run:
    """Store predictions or a matrix read from another tool, with their origin as tags.

    `tags` take precedence over those of the tool. Raises `InvalidInput` and `Conflict`.
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
