"""Reading what a comparison needs: runs, the samples they share, and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.comparison.texts import MOST_RUNS, letter
from offdiag.domain.slices import Slice
from offdiag.errors import InvalidInput, NotFound
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.comparison.alignment import Aligned, aligned, places_in_lineages
from offdiag.services.comparison.refusals import Refusal, other_examples
from offdiag.services.evaluation.membership import members_among
from offdiag.store import compared_runs as queries
from offdiag.store import slices
from offdiag.store.compared_runs import ComparedRun, LineageHead
from offdiag.store.session import Session
from offdiag.store.slices import SliceChoices


@dataclass(frozen=True)
class Asked:
    """Everything a comparison depends on."""

    runs: tuple[ComparedRun, ...]
    part: Slice | None
    choices: SliceChoices
    on_shared: bool
    confidence: float

    @property
    def key(self) -> tuple[object, ...]:
        """All of it by content; a correction that was taken back counts as another truth."""
        return (
            tuple((run.content_digest, run.source, run.score_columns) for run in self.runs),
            tuple(None if run.truth is None else run.truth.id for run in self.runs),
            self.runs[0].positive_label,
            str(self.part or ""),
            self.on_shared,
            self.confidence,
            SUITE_VERSION,
        )


def require_several(run_ids: Sequence[str]) -> None:
    """Raise `InvalidInput` unless these are two or more different runs, not too many."""
    if len(run_ids) < 2:
        raise InvalidInput(
            f"there {'is one run' if run_ids else 'are no runs'} to compare.",
            field="runs",
            hint="Name two or more.",
        )
    if len(run_ids) > MOST_RUNS:
        raise InvalidInput(
            f"there are {len(run_ids)} runs.",
            field="runs",
            hint=f"At most {MOST_RUNS} are compared at once.",
        )
    doubled = next((each for each in run_ids if run_ids.count(each) > 1), None)
    if doubled is not None:
        raise InvalidInput(
            f"{doubled} is named twice.", field="runs", hint="Compare it with another run."
        )


def runs_named(session: Session, run_ids: Sequence[str]) -> tuple[ComparedRun, ...]:
    """The runs in the order they were named. Raises `NotFound`."""
    found = queries.compared_runs(session, run_ids)
    missing = next((each for each in run_ids if each not in found), None)
    if missing is not None:
        raise NotFound(
            f"there is no run {missing!r}.",
            field="run",
            hint="It may have been deleted, or its id is incomplete.",
        )
    return tuple(found[each] for each in run_ids)


def choices_of(session: Session, runs: Sequence[ComparedRun], part: Slice | None) -> SliceChoices:
    """What the samples of the first run with predictions can be sliced by."""
    roots = [run.truth.root_id for run in runs if run.has_predictions and run.truth]
    names = set() if part is None else {term.name for term in part.terms}
    if not roots:
        return SliceChoices({}, {})
    return slices.slice_choices(session, roots[0], names)


def read_aligned(session: Session, asked: Asked, runs: Sequence[ComparedRun]) -> Aligned | Refusal:
    """The predictions of runs in one order; refused where their samples differ and may not."""
    lineages = list({run.truth.root_id: run.truth for run in runs if run.truth}.values())
    kinds = {each.root_id: each.id_kind for each in lineages}
    ids = queries.sample_ids_of(session, kinds) if len(lineages) > 1 else {}
    places = places_in_lineages(lineages, ids)
    n_shared = None if places is None else len(places[lineages[0].root_id])
    if places is None or n_shared == 0 or (len(lineages) > 1 and not asked.on_shared):
        return other_examples(
            _letters_by_lineage(asked.runs, lineages),
            n_each=[each.n_samples for each in lineages],
            n_shared=n_shared,
        )
    n_each = tuple(each.n_samples for each in lineages)
    if asked.part is not None:
        members = members_among(asked.choices, asked.part, n_samples=lineages[0].n_samples)
        chosen = members[places[lineages[0].root_id]]
        places = {root_id: at[chosen] for root_id, at in places.items()}
        n_each = (int(chosen.sum()),) if len(lineages) == 1 else n_each
    return aligned(
        runs,
        lineages,
        places,
        queries.truth_codes_of(session, [each.id for each in lineages]),
        queries.predictions_of(session, [run.id for run in runs]),
        n_classes=len(runs[0].labels),
        n_each=n_each,
    )


def _letters_by_lineage(
    runs: Sequence[ComparedRun], lineages: Sequence[LineageHead]
) -> list[list[str]]:
    return [
        [
            letter(position)
            for position, run in enumerate(runs)
            if run.truth is not None and run.truth.root_id == lineage.root_id
        ]
        for lineage in lineages
    ]
