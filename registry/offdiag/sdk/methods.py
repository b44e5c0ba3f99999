"""`offdiag.methods`: runs that differ by seed or fold, taken together and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.records.method import METHOD_COLUMNS, method_row
from offdiag.sdk.target import target

if TYPE_CHECKING:
    import pandas as pd


def methods(
    *,
    dataset: str,
    metric: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """The methods of a dataset by a metric, the primary one by default, best first.

    Runs belong to a method by the tag `group`; the tags `seed` and `fold` say which run of it they
    are. Runs of one method on the same samples are seeds: the interval of their mean counts the
    spread of training and the choice of samples (Satterthwaite 1946). Runs with the tag `fold` are
    parts of a cross-validation, compared by the corrected resampled t test (Nadeau and Bengio
    2003).

    Returns a frame indexed by method with the columns design, n_runs, mean, ci_low, ci_high,
    spread (standard deviation of the runs), from_training (share of the variance of the mean),
    pooled (value of the added matrices of folds), rank_status, difference to the best method,
    difference_low and difference_high (simultaneous over all pairs), p_adjusted and
    why_not_compared. Raises `NotFound`, and `InvalidInput` for a metric without a better side.
    """
    with optional:
        import pandas as pd

    at = target(url)
    found = at.methods(project if project is not None else at.project, dataset, metric)
    frame = pd.DataFrame(map(method_row, found.methods), columns=list(METHOD_COLUMNS))
    frame.attrs = {"metric": found.metric, "dataset": found.dataset}
    return frame.set_index("method")
