"""What a correction did, in one sentence made from the figures and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.services.truth.difference import LabelDifference
from offdiag.services.truth.impact import MovedRun, TruthImpact
from offdiag_web.presenters import numbers
from offdiag_web.presenters.differences import title_inside

_MOST_NAMED = 3
_LONGEST_NAME = 60
"""Longer than names in tables: in a sentence a run has no other sign by which it is known."""


def impact_sentence(impact: TruthImpact, metric: str) -> str:
    """ "Correcting 10 labels moved “a” beyond its interval; by MCC “a” rises from 2 to 1."."""
    if impact.older is None or impact.difference is None:
        return (
            f"Version {impact.version.number} is the first of its samples, so there is nothing "
            "before it that could have moved."
        )
    cause = _cause(impact.difference)
    if not impact.moved:
        return f"{cause} moved nothing yet: {_nobody(impact)}."
    return f"{cause} {_beyond(impact)}; {_places(impact.moved, metric)}."


def _cause(difference: LabelDifference) -> str:
    total = len(difference)
    labels = numbers.plural(total, "label")
    if difference.n_corrected == total:
        return f"Correcting {labels}"
    if difference.n_newly_labelled == total:
        return f"Giving {labels} for the first time"
    return f"Revising {labels}"


def _nobody(impact: TruthImpact) -> str:
    if impact.waiting:
        verb = "waits" if len(impact.waiting) == 1 else "wait"
        return f"{numbers.plural(len(impact.waiting), 'run')} {verb} to be scored with it"
    return "no run was scored before and after it"


def _beyond(impact: TruthImpact) -> str:
    of = numbers.plural(len(impact.moved), "run")
    # The largest change comes first, so the names do too.
    names = list(dict.fromkeys(change.run_id for change in impact.beyond))
    if not names:
        return f"moved no value of {of} beyond the interval it had"
    by_id = {moved.run.id: moved.run.name for moved in impact.moved}
    listed = numbers.listed([_quoted(by_id[run_id]) for run_id in names], at_most=_MOST_NAMED)
    return f"moved {listed} beyond the interval of a value, {len(names)} of {of}"


def _places(moved: Sequence[MovedRun], metric: str) -> str:
    ranking = f"by {title_inside(metric)}"
    changes = []
    for each in moved:
        before, after = each.places[metric]
        if before is not None and after is not None and before != after:
            changes.append((after, before, each.run.name))
    if not changes:
        return f"the ranking {ranking} stays as it was"
    texts = [
        f"{_quoted(name)} {'rises' if after < before else 'falls'} from rank {before} to {after}"
        for after, before, name in sorted(changes)
    ]
    return f"{ranking} {numbers.listed(texts, at_most=_MOST_NAMED)}"


def _quoted(run_name: str) -> str:
    return f"“{numbers.shortened(run_name, longest=_LONGEST_NAME)}”"
