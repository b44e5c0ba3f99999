"""The results of a run as an address asks for them: of all classes, or with groups collapsed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from flask import current_app

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.evaluation.compute import CollapsedEvaluation, collapse_matrix
from offdiag.services.evaluation.slices import sliced_run
from offdiag.services.lru_cache import LruCache
from offdiag.store.run_page import RunHeader, RunResults, run_detail
from offdiag_web.app.context import current_registry
from offdiag_web.components.classes import Grouping
from offdiag_web.components.run_frame import results_of, stored_run
from offdiag_web.urls.matrix import MatrixAddress

KEY = "offdiag collapsed matrices"
MOST_KEPT = 64


@dataclass(frozen=True)
class DisplayedRun:
    """Results of the classes that are left, and the canonical address of the view."""

    results: RunResults
    address: MatrixAddress
    grouping: Grouping | None = None
    notices: tuple[str, ...] = ()

    @property
    def collapse(self) -> Collapse | None:
        """What is collapsed, None where nothing is."""
        if self.grouping is None or not self.grouping.collapse.groups:
            return None
        return self.grouping.collapse


def displayed_run(run: RunHeader, results: RunResults, address: MatrixAddress) -> DisplayedRun:
    """Results as the address asks for them; groups that there are none of are said and ignored.

    Collapsed results have neither metrics of scores nor costs: both are about single classes.
    """
    if run.hierarchy is None or not isinstance(results.counted, ConfusionMatrix):
        none = ("The classes of this dataset are in no groups.",) if address.collapse else ()
        return DisplayedRun(results, replace(address, collapse=()), None, none)
    known = {ALL_GROUPS, *run.hierarchy.by_name}
    notices = tuple(
        f"There is no group “{name}” of classes." for name in address.collapse if name not in known
    )
    grouping = Grouping.of(run.labels, run.hierarchy, address.collapse)
    address = replace(address, collapse=grouping.collapsed if grouping.collapse.groups else ())
    if grouping.collapse.groups:
        results = _collapsed(run, results, grouping)
    return DisplayedRun(results, address, grouping, notices)


def requested_matrix(address: MatrixAddress) -> DisplayedRun:
    """The run of an address that must have results. Raises as `results_of` does."""
    detail = stored_run(address.run_id, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def drawn_matrix(address: MatrixAddress) -> DisplayedRun:
    """The same for a picture, which is asked for often and says nothing but counts.

    Aggregates, flags and costs are not read.
    """
    with current_registry().database.read() as session:
        detail = run_detail(session, address.run_id, aggregates=False)
    if address.part is not None:
        detail = sliced_run(current_registry().database, detail, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def matrix_file_name(address: MatrixAddress) -> str:
    """What a file of the view is called, without its ending."""
    said = {
        "slice": address.part,
        "matrix": True,
        "transposed": address.transposed,
        "collapsed": address.collapse,
    }
    return "-".join([address.run_id, *(word for word, is_so in said.items() if is_so)])


def _collapsed(run: RunHeader, results: RunResults, grouping: Grouping) -> RunResults:
    names = [group.name for group in grouping.collapse.groups]
    key = (results.matrix.digest, run.labels.inferred, grouping.collapse)
    found = _kept().get(
        key,
        lambda: collapse_matrix(
            results.matrix, labels=run.labels, hierarchy=run.hierarchy, groups=names
        ),
    )
    return replace(
        results,
        counted=found.matrix,
        aggregate=found.values.aggregate,
        per_class={key: tuple(values) for key, values in found.values.per_class.items()},
        costs=None,
    )


def _kept() -> LruCache[CollapsedEvaluation]:
    kept = current_app.extensions.setdefault(KEY, LruCache(most=MOST_KEPT))
    return cast("LruCache[CollapsedEvaluation]", kept)
