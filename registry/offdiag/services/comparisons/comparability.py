"""Which runs can be compared, and why others cannot, with what the user can do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from offdiag.comparison.texts import chosen_here, run_label
from offdiag.domain.runs import RunState
from offdiag.domain.sentences import capitalized, enumerated
from offdiag.domain.slices import Slice
from offdiag.errors import OffdiagError
from offdiag.services.comparisons.counted_together import CountedTogether
from offdiag.services.comparisons.shared_samples import SharedSamples
from offdiag.services.small_groups import GroupSizes, sizes_in_truth, suppressed, suppressed_below
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Session


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why runs are not compared, and what the user can do.

    `n_shared` is given if the runs could be compared, on request, on the examples they share.
    """

    why: str
    hint: str
    n_shared: int | None = None

    @classmethod
    def of(cls, error: OffdiagError) -> Refusal:
        """The refusal that says what an error says."""
        return cls(capitalized(error.message), error.hint or "")


def refused(runs: Sequence[ComparedRun]) -> Refusal | None:
    """The first reason not to compare runs that has nothing to do with their examples."""
    return _of_several_datasets(runs) or _still_open(runs)


def _of_several_datasets(runs: Sequence[ComparedRun]) -> Refusal | None:
    groups: dict[tuple[str, str], list[str]] = {}
    for position, run in enumerate(runs):
        groups.setdefault((run.project, run.dataset), []).append(run_label(position))
    if len(groups) == 1:
        return None
    several_projects = len({project for project, _ in groups}) > 1
    places = [
        f"{enumerated(run_labels)} on “{dataset}”"
        + (f" of project “{project}”" if several_projects else "")
        for (project, dataset), run_labels in groups.items()
    ]
    labels = {run.labels.digest for run in runs}
    also = ", and their classes differ too" if len(labels) > 1 else ""
    return Refusal(
        f"These runs are on different datasets: {enumerated(places)}{also}.",
        "Choose runs of one dataset; runs on other examples cannot be compared.",
    )


def _still_open(runs: Sequence[ComparedRun]) -> Refusal | None:
    still_open = (at for at, run in enumerate(runs) if run.state is RunState.OPEN)
    run_labels = [run_label(at) for at in still_open]
    if not run_labels:
        return None
    be = "is" if len(run_labels) == 1 else "are"
    return Refusal(
        f"{enumerated(run_labels)} {be} still open and may take more predictions.",
        "Finish what is open, then compare.",
    )


def refused_with_weights(runs: Sequence[ComparedRun]) -> Refusal | None:
    """Why runs, some of which have sample weights, are not compared; None if none has weights."""
    weighted = [run_label(at) for at, run in enumerate(runs) if run.is_weighted]
    if not weighted:
        return None
    if len(weighted) < len(runs):
        verb = "has" if len(weighted) == 1 else "have"
        return Refusal(
            f"{enumerated(weighted)} {verb} sample weights, the others have none.",
            "Log all with the same sample_weight=, or all without.",
        )
    if len(runs) > 2:
        return Refusal(
            "These runs have sample weights; only two such can be compared.",
            "Choose two of them.",
        )
    return None


def refused_with_chosen(runs: Sequence[ComparedRun]) -> Refusal | None:
    """Why three or more runs are not compared if a threshold was chosen on their examples."""
    chosen = [run_label(at) for at, run in enumerate(runs) if run.is_chosen_here]
    if not chosen or len(runs) < 3:
        return None
    return Refusal(
        f"{capitalized(chosen_here(chosen))}, so the runs cannot be ranked.",
        f"Leave {'them' if len(chosen) > 1 else 'it'} out, or look at two runs.",
    )


def label_versions(runs: Sequence[ComparedRun]) -> tuple[int | None, ...]:
    """The label version of each run, None for a matrix of a dataset without labels."""
    return tuple(None if run.truth is None else run.truth.number for run in runs)


def on_the_same_labels(
    runs: Sequence[ComparedRun], counted_together: Collection[str] = ()
) -> tuple[int, ...]:
    """Positions of the runs that can be compared: the majority, in a tie that on newer labels.

    Runs that are paired, by predictions or because they were counted together, share the labels of
    the paired samples. A matrix without a label version can be compared with any run.
    """
    versions = label_versions(runs)
    paired = {
        versions[at]
        for at, run in enumerate(runs)
        if run.has_predictions or run.id in counted_together
    }
    groups: dict[int, set[int]] = {}
    for at, number in enumerate(versions):
        if number is not None:
            newest = max(each for each in paired if each) if number in paired else number
            groups.setdefault(newest, set()).add(at)
    if not groups:
        return tuple(range(len(runs)))
    _, most = max((len(at), number) for number, at in groups.items())
    return tuple(at for at, number in enumerate(versions) if number is None or at in groups[most])


def refused_on_other_labels(runs: Sequence[ComparedRun]) -> Refusal | None:
    """Why three or more runs are not compared if no two are on the same labels."""
    if len(runs) < 3 or len(on_the_same_labels(runs)) > 1:
        return None
    versions = enumerated(
        [f"{run_label(at)} on v{number}" for at, number in enumerate(label_versions(runs))]
    )
    return Refusal(
        f"These runs were evaluated on different labels ({versions}), so they cannot be ranked.",
        "Log predictions, which follow corrections, or matrices on the newest labels.",
    )


def other_examples(
    labels_by_truth: Sequence[Sequence[str]], *, n_each: Sequence[int], n_shared: int | None
) -> Refusal:
    """The refusal of runs on different samples; `n_shared` is None if it is unknown."""
    sizes = enumerated([f"{n:,}" for n in n_each])
    if n_shared is None:
        groups = "; ".join(enumerated(run_labels) for run_labels in labels_by_truth)
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
    if n_shared == max(n_each):
        return Refusal(
            f"Not paired: the runs were logged with different labels of the same {n_shared:,} "
            "examples.",
            "The runs can be compared on the examples with equal labels alone.",
            n_shared,
        )
    return Refusal(
        f"Not paired: {sizes} examples, {n_shared:,} shared.",
        "The runs can be compared on the shared ones alone.",
        n_shared,
    )


NOTHING_LABELLED = Refusal(
    "None of the examples has a label yet, so no prediction can be evaluated.",
    "`offdiag truth revise` adds labels; the comparison then needs nothing else.",
)
NO_SAMPLES_TO_CHOOSE_FROM = Refusal(
    "One of the runs is a matrix without predictions, so it is not known which of its examples "
    "are in a slice.",
    "Compare all examples, or runs with predictions.",
)
NO_SAMPLES_TO_SHOW = Refusal(
    "One of the runs is a matrix without predictions, so there are no examples to show.",
    "Log the predictions, or look at the differences of the two matrices.",
)
NOTHING_IN_SLICE = Refusal(
    "No labelled example is in this slice.", "Choose another slice, or all examples."
)


def hidden_slice(
    session: Session,
    runs: Sequence[ComparedRun],
    part: Slice | None,
    counted: CountedTogether | None = None,
) -> Refusal | None:
    """Why a slice is not compared because it is too small to be shown; None if it is not."""
    k = suppressed_below()
    if part is None or not k:
        return None
    if counted is not None:
        groups = [GroupSizes(counted.samples.slices, counted.samples.sizes, k)]
    else:
        heads = {run.truth.id: run.truth for run in runs if run.truth is not None}
        groups = [sizes_in_truth(session, each, k) for each in heads.values()]
    return (
        Refusal.of(suppressed(part, k)) if any(each.is_hidden(part) for each in groups) else None
    )


def hidden_by_size(samples: SharedSamples | None, part: Slice | None) -> Refusal | None:
    """Why a slice is not compared because the runs share too few of its samples; else None."""
    k = suppressed_below()
    if part is None or samples is None or samples.n_compared >= k:
        return None
    return Refusal.of(suppressed(part, k))


def hidden_by_rest(
    rests: Sequence[GroupSizes], part: Slice | None, labels_by_truth: Sequence[Sequence[str]]
) -> Refusal | None:
    """Why shared samples are not shown: with those of a run, they would reveal a few others."""
    for rest, labels in zip(rests, labels_by_truth, strict=False):
        if rest.is_hidden_rest(part):
            return _refused_by_rest(rest, part, f"all of {enumerated(labels)}")
    return None


def hidden_by_some(
    rests: Iterable[tuple[GroupSizes, Sequence[int]]],
    part: Slice | None,
    labels_by_truth: Sequence[Sequence[str]],
) -> Refusal | None:
    """The same for samples that only some runs share, because these are compared too."""
    for rest, places in rests:
        if rest.is_hidden_rest(part):
            labels = sorted(label for place in places for label in labels_by_truth[place])
            return _refused_by_rest(rest, part, f"those that {enumerated(labels)} share")
    return None


def _refused_by_rest(rest: GroupSizes, part: Slice | None, others: str) -> Refusal:
    where = "" if part is None else f" of {part}"
    return Refusal(
        f"The shared examples{where} are hidden: with {others}, figures of fewer than {rest.k} "
        "others would follow.",
        "Compare runs on the same examples. The limit is the setting slices.suppress_below.",
    )
