"""Which runs cannot be compared, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.comparison.texts import letter
from offdiag.domain.runs import RunState, Task
from offdiag.reports.texts import listed
from offdiag.store.compared_runs import ComparedRun


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why runs are not compared, and the way out.

    `n_shared` is given where they could be compared on the examples they share, if that is
    asked for.
    """

    why: str
    hint: str
    n_shared: int | None = None


def refused(runs: Sequence[ComparedRun]) -> Refusal | None:
    """The first thing that keeps runs from being compared, whatever their examples are."""
    return _of_several_datasets(runs) or _of_several_labels(runs) or _still_open(runs)


def _of_several_datasets(runs: Sequence[ComparedRun]) -> Refusal | None:
    groups: dict[tuple[str, str], list[str]] = {}
    for position, run in enumerate(runs):
        groups.setdefault((run.project, run.dataset), []).append(letter(position))
    if len(groups) == 1:
        return None
    several_projects = len({project for project, _ in groups}) > 1
    places = [
        f"{_listed(letters)} on “{dataset}”"
        + (f" of project “{project}”" if several_projects else "")
        for (project, dataset), letters in groups.items()
    ]
    labels = {run.labels.digest for run in runs}
    also = ", and their classes differ too" if len(labels) > 1 else ""
    return Refusal(
        f"These runs are on different datasets: {_listed(places)}{also}.",
        "Choose runs of one dataset; runs on other examples cannot be told apart by them.",
    )


def _of_several_labels(runs: Sequence[ComparedRun]) -> Refusal | None:
    if any(run.task is Task.MULTILABEL for run in runs):
        return Refusal(
            "Examples of this dataset have several labels at once, so no run has one right "
            "answer per example to be compared.",
            "Compare the values of single labels on the pages of the runs.",
        )
    return None


def _still_open(runs: Sequence[ComparedRun]) -> Refusal | None:
    letters = [letter(position) for position, run in enumerate(runs) if run.state is RunState.OPEN]
    if not letters:
        return None
    be = "is" if len(letters) == 1 else "are"
    return Refusal(
        f"{_listed(letters)} {be} still open and may take more predictions.",
        "Finish what is open, then compare.",
    )


def other_examples(
    letters_by_lineage: Sequence[Sequence[str]], *, n_each: Sequence[int], n_shared: int | None
) -> Refusal:
    """Runs that were logged with different samples; `n_shared` None where nobody can tell."""
    sizes = _listed([f"{n:,}" for n in n_each])
    if n_shared is None:
        groups = "; ".join(_listed(letters) for letters in letters_by_lineage)
        return Refusal(
            f"Not paired: the runs were logged with different ground truth ({groups}) of "
            f"{sizes} examples, which have no identifiers to find the shared ones by.",
            "Log runs with the same y_true, or with sample_ids=.",
        )
    if n_shared == 0:
        return Refusal(
            f"Not paired: {sizes} examples, none of them shared.",
            "Choose runs that predicted the same examples.",
        )
    return Refusal(
        f"Not paired: {sizes} examples, {n_shared:,} shared.",
        "The runs can be compared on the shared ones alone.",
        n_shared,
    )


NOTHING_LABELLED = Refusal(
    "None of the examples has a label yet, so no answer is right or wrong.",
    "`offdiag truth revise` adds labels; the comparison then needs nothing else.",
)
NO_CASES_TO_CHOOSE_FROM = Refusal(
    "One of the runs is a matrix without predictions, so nobody knows which of its examples "
    "are in a slice.",
    "Compare all examples, or runs with predictions.",
)
NO_CASES_TO_SHOW = Refusal(
    "One of the runs is a matrix without predictions, so there are no examples to show.",
    "Log the predictions, or look at the differences of the two matrices.",
)
NOTHING_IN_SLICE = Refusal(
    "No labelled example is in this slice.", "Choose another slice, or all examples."
)


def _listed(words: Sequence[str]) -> str:
    return listed(words, at_most=len(words))
