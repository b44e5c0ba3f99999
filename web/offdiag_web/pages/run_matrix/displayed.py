"""The displayed results of a run, possibly with collapsed groups."""

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
from offdiag_web.components.runs.frame import results_of, stored_run
from offdiag_web.urls.run import MatrixAddress

_CACHE = "offdiag collapsed matrices"
MOST_CACHED = 64


@dataclass(frozen=True)
class DisplayedRun:
    """Results of the displayed classes, and the canonical address of the view."""

    results: RunResults
    address: MatrixAddress
    grouping: Grouping | None = None
    notices: tuple[str, ...] = ()

    @property
    def collapse(self) -> Collapse | None:
        """What is collapsed; None if nothing is."""
        if self.grouping is None or not self.grouping.collapse.groups:
            return None
        return self.grouping.collapse


def displayed_run(run: RunHeader, results: RunResults, address: MatrixAddress) -> DisplayedRun:
    """Results as the address requests them; unknown groups are ignored, with a notice.

    Collapsed results have neither metrics of scores nor costs, which concern single classes.
    """
    if run.hierarchy is None or not isinstance(results.counted, ConfusionMatrix):
        none = ("The classes of this dataset have no groups.",) if address.collapse else ()
        return DisplayedRun(results, replace(address, collapse=()), None, none)
    known = {ALL_GROUPS, *run.hierarchy.by_name}
    notices = tuple(
        f"There is no group of classes “{name}”." for name in address.collapse if name not in known
    )
    grouping = Grouping.of(run.labels, run.hierarchy, address.collapse)
    address = replace(address, collapse=grouping.collapsed if grouping.collapse.groups else ())
    if grouping.collapse.groups:
        results = _collapsed(run, results, grouping)
    return DisplayedRun(results, address, grouping, notices)


def requested_matrix(address: MatrixAddress) -> DisplayedRun:
    """The displayed run of an address, which needs results. Raises as `results_of` does."""
    detail = stored_run(address.run_id, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def drawn_matrix(address: MatrixAddress) -> DisplayedRun:
    """The same for a picture, which is requested often and only needs counts.

    Aggregates, flags and costs are not read.
    """
    with current_registry().database.read() as session:
        detail = run_detail(session, address.run_id, aggregates=False)
    if address.part is not None:
        detail = sliced_run(current_registry().database, detail, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def matrix_file_name(address: MatrixAddress) -> str:
    """The name of a file of the view, without its suffix."""
    parts = [address.run_id]
    if address.part:
        parts.append("slice")
    parts.append("matrix")
    if address.transposed:
        parts.append("transposed")
    if address.collapse:
        parts.append("collapsed")
    return "-".join(parts)


def _collapsed(run: RunHeader, results: RunResults, grouping: Grouping) -> RunResults:
    names = [group.name for group in grouping.collapse.groups]
    key = (results.matrix.digest, run.labels.inferred, grouping.collapse)
    found = _cache().get(
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


def _cache() -> LruCache[CollapsedEvaluation]:
    cache = current_app.extensions.setdefault(_CACHE, LruCache(most=MOST_CACHED))
    return cast("LruCache[CollapsedEvaluation]", cache)
