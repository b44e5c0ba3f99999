"""Runs by the label version that they are compared on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from offdiag.store.compared_runs import ComparedRun


def label_versions(runs: Sequence[ComparedRun]) -> tuple[int | None, ...]:
    """The label version of each run, None for a matrix of a dataset without labels."""
    return tuple(None if run.truth is None else run.truth.number for run in runs)


def on_the_same_labels(
    runs: Sequence[ComparedRun], counted_together: Collection[str] = ()
) -> tuple[int, ...]:
    """Positions of the runs that can be compared: most of them, of equally many the newest labels.

    Runs that are paired, by predictions or by what was counted together, have the labels of the
    paired samples in common. A matrix on no labels is compared with any run.
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
