"""The address of a question about costs: all of it, so that a copied link asks it again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from werkzeug.datastructures import MultiDict

from offdiag.services.what_if.scenario import Question
from offdiag_web.addresses.query_string import with_query

LONGEST_URL = 2_000
"""Characters up to which every program passes an address on."""
_RUN_ID = re.compile(r"r_[0-9A-Za-z]{1,64}")


@dataclass(frozen=True, slots=True)
class WhatIfAddress:
    """Runs and a question about them. `positive` is the class whose misses are counted."""

    runs: tuple[str, ...] = ()
    question: Question = field(default_factory=Question)
    positive: str = ""

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its twin where `form` is "json" or "csv"."""
        return with_query(f"/whatif{f'.{form}' if form else ''}", self._values("runs"))

    def decisions_url(self, run_id: str, form: str = "") -> str:
        """What the scores of one run would decide under these costs."""
        path = f"/whatif/decisions{f'.{form}' if form else ''}"
        return with_query(path, self._values("run") | {"run": run_id})

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The address as fields of a form, those that say something."""
        return tuple((name, text) for name, text in self._values("runs").items() if text)

    def _values(self, key: str) -> dict[str, str | None]:
        asked = self.question
        return {
            key: ",".join(self.runs),
            "cost": asked.costs,
            "set": asked.edits,
            "vary": asked.lever,
            "share": asked.shares,
            "merge": asked.merged,
            "positive": self.positive,
        }

    def asking(self, **changes: str) -> WhatIfAddress:
        """The same runs with another question."""
        return replace(self, question=replace(self.question, **changes))

    def of_runs(self, runs: Sequence[str]) -> WhatIfAddress:
        return replace(self, runs=tuple(runs))


def read_what_if(values: Mapping[str, str], *, key: str = "runs") -> WhatIfAddress:
    """The address in a query string. What of it can be meant is for those to say who know the
    classes; only ids of runs are told from anything else here."""
    # A list of runs sends each ticked one as a field of its own.
    given = values.getlist(key) if isinstance(values, MultiDict) else [values.get(key, "")]
    runs = [text.strip() for text in ",".join(given).split(",")]
    return WhatIfAddress(
        tuple(dict.fromkeys(run for run in runs if _RUN_ID.fullmatch(run))),
        Question(
            costs=values.get("cost") or None,
            edits=values.get("set", ""),
            lever=values.get("vary", ""),
            shares=values.get("share", ""),
            merged=values.get("merge", ""),
        ),
        values.get("positive", ""),
    )
