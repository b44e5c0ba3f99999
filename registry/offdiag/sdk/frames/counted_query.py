"""The query that counts came from, stored with them as parameters of the run."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.slice_ranges import Bins
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.logging import RunArguments

QUERY, COLUMNS = "counted.query", "counted.columns"
TOGETHER = "counted.together"
"""The same for all runs of one call."""
SOURCE = "counted.from"
"""The run whose query was counted again."""


@dataclass(frozen=True, slots=True)
class CountedQuery:
    """A query, and the roles of its columns."""

    text: str
    columns: FrameColumns

    def params(self) -> dict[str, Scalar]:
        """The query as parameters of a run. Raises `InvalidInput` if it is too long."""
        columns = self.columns
        described = {
            "actual": columns.actual,
            "predicted": dict(columns.runs) or columns.predicted,
            "score": columns.scores[0] if columns.scores else None,
            "slices": list(columns.slices),
            "bins": {name: _cuts(name, each) for name, each in (columns.bins or {}).items()},
            "periods": dict(columns.periods or {}),
        }
        text = json.dumps({name: value for name, value in described.items() if value})
        if len(text) > MAX_TEXT_LENGTH:
            raise InvalidInput(
                f"its columns take {len(text):,} characters as JSON.",
                field="query",
                hint=f"At most {MAX_TEXT_LENGTH:,} are stored; use shorter names.",
            )
        return {QUERY: self.text, COLUMNS: text}


def _cuts(name: str, bins: Bins) -> int | list[float]:
    try:
        points = np.asarray(bins).tolist()
        return points if isinstance(points, int) else [float(each) for each in points]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{bins!r} does not cut a column.",
            field=f"bins[{name!r}]",
            hint="Give ascending cut points, or a number of quantiles.",
        ) from None


def with_query(arguments: RunArguments, query: CountedQuery) -> RunArguments:
    """The arguments of runs that are stored with a query. Raises `InvalidInput`."""
    given: Mapping[Any, Any] = arguments["params"] or {}
    taken = next((key for key in given if str(key).partition(".")[0] == "counted"), None)
    if taken is not None:
        raise InvalidInput(
            f"{taken!r} is reserved for the stored query.",
            field="params",
            hint="Rename this parameter.",
        )
    found = RunArguments(**arguments)
    together = {TOGETHER: secrets.token_hex(8)} if query.columns.runs else {}
    found["params"] = {**given, **query.params(), **together}
    return found


def query_of(run_id: str, params: Mapping[str, Scalar]) -> CountedQuery:
    """The query that a run was counted from. Raises `Conflict` if none is stored."""
    try:
        found = json.loads(str(params[COLUMNS]))
        text, predicted = str(params[QUERY]), found["predicted"]
        of_several = isinstance(predicted, dict)
        columns = FrameColumns(
            None if of_several else predicted,
            found["actual"],
            (found["score"],) if "score" in found else (),
            None,
            tuple(found.get("slices", ())),
            runs=predicted if of_several else {},
            bins=found.get("bins"),
            periods=found.get("periods"),
        )
        return CountedQuery(text, columns)
    except (KeyError, TypeError, ValueError):
        raise Conflict(
            f"no query is stored with run {run_id}.",
            field="run",
            hint="Corrected labels of stored predictions are given to revise_truth; counts that "
            "were logged without query= are logged again with log_frame.",
        ) from None
