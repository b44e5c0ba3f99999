"""`offdiag.methods`: runs that differ by seed or fold, combined into methods and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.records.runs.method import (
    CURVE_COLUMNS,
    METHOD_COLUMNS,
    RUN_COLUMNS,
    Methods,
    curve_row,
    method_row,
    methods_request,
    run_rows,
)
from offdiag.records.runs.run_list import LeadersQuery
from offdiag.sdk.search import evaluate_waiting
from offdiag.sdk.target import target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from offdiag.domain.texts import Cell


def methods(
    *,
    dataset: str,
    metric: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """The methods of a dataset compared by a metric, best first, as a frame indexed by method.

    Runs belong to a method by the tag `group`; the tags `seed` and `fold` distinguish the runs of
    a method. Runs of one method on the same samples are seeds: the interval of their mean covers
    the spread of training and the choice of samples (Satterthwaite 1946). Runs with the tag `fold`
    are parts of a cross-validation, compared by the corrected resampled t test (Nadeau and Bengio
    2003).

    * `dataset`: the name of the dataset.
    * `metric`: the metric to compare by. Default: the primary metric.
    * `project`, `url`: the project and the registry. Default: the configured ones.

    Columns are design, n_runs, mean, ci_low, ci_high, spread (standard deviation of the runs),
    from_training (share of the variance of the mean), pooled (value of the summed matrices of
    folds), rank_status, difference to the best method, difference_low and difference_high
    (simultaneous over all pairs), p_adjusted, why_not_compared and train_size.

    As in `offdiag.search_runs`, pending runs of an SQLite file are evaluated first, or a
    `NotEvaluated` warning reports their number. Raises `NotFound`, and `InvalidInput` for a metric
    without a better side.
    """
    found = _found(dataset, metric, project, url)
    return _frame(found, map(method_row, found.methods), METHOD_COLUMNS, index=["method"])


def method_runs(
    *,
    dataset: str,
    metric: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """The runs of the methods of a dataset with their values, such as those of each fold.

    `dataset`, `metric`, `project` and `url` are those of `offdiag.methods`, as are warnings and
    errors. Columns are method, train_size, seed, fold, run_id, name, value and reason, which says
    why a value is missing. Methods are in the order of `offdiag.methods`.
    """
    found = _found(dataset, metric, project, url)
    return _frame(found, run_rows(found), RUN_COLUMNS)


def learning_curves(
    *,
    dataset: str,
    metric: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """A metric of the methods of a dataset by the number of training examples.

    The tag `train_size` of a run has that number, or as a number up to 1 the share of the
    examples. `dataset`, `metric`, `project` and `url` are those of `offdiag.methods`, as are
    warnings and errors.

    Returns a frame indexed by method and train_size with the columns design, n_runs, mean, ci_low,
    ci_high, spread (standard deviation of the runs), pooled (value of the summed matrices of
    folds) and why_no_interval. It has no rows if no run has the tag.

    The interval of a point is that of the mean of its runs, as in `offdiag.methods`: over seeds
    and samples, or over folds with test parts by that training size (Nadeau and Bengio 2003). It
    holds for each point alone.
    """
    found = _found(dataset, metric, project, url)
    rows = map(curve_row, found.learning_curves)
    return _frame(found, rows, CURVE_COLUMNS, index=["method", "train_size"])


def _found(dataset: str, metric: str | None, project: str | None, url: str | None) -> Methods:
    at = target(url)
    evaluate_waiting(at, stacklevel=4)
    asked = LeadersQuery.asked(
        project=project if project is not None else at.project, metric=metric
    )
    return at.ask(methods_request(dataset, asked))


def _frame(
    found: Methods,
    rows: Iterable[tuple[Cell, ...]],
    columns: Sequence[str],
    *,
    index: Sequence[str] = (),
) -> pd.DataFrame:
    with optional:
        import pandas as pd

    frame = pd.DataFrame(rows, columns=list(columns))
    frame.attrs = {"metric": found.metric, "dataset": found.dataset}
    return frame.set_index(list(index) if len(index) > 1 else index[0]) if index else frame
