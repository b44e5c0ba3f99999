"""Addresses of a comparison of runs and of the examples behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast, get_args

from offdiag.comparison.churn import PairedOutcome
from offdiag.domain.runs import MOST_COMPARED
from offdiag_web.urls.query_string import RUN_ID, named_project, one_of, with_query

ClassMetric = Literal["recall", "precision", "f1"]
MatrixChoice = Literal["diff", "a", "b"]


class Query(Protocol):
    """A parsed query string: Werkzeug's, or one of a test."""

    def get(self, key: str, /) -> str | None: ...

    def getlist(self, key: str, /) -> list[str]: ...

    def __contains__(self, key: object, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class CompareAddress:
    """Which runs are compared (the first one is A), on which examples, and what is shown.

    `matrix` is the matrix that is shown for two runs, by default their difference; `curves` names
    the class whose curves are shown.
    """

    run_ids: tuple[str, ...] = ()
    part: str | None = None
    on_shared: bool = False
    class_metric: ClassMetric = "recall"
    matrix: MatrixChoice = "diff"
    curves: str | None = None

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its export where `form` is "json", "csv" or "md"."""
        shown = {} if form else self._shown
        return with_query(f"/compare.{form}" if form else "/compare", self._compared | shown)

    def card_url(self) -> str:
        """The comparison as a card for slides."""
        return with_query("/compare/card.svg", self._compared)

    def examples_url(
        self,
        outcome: PairedOutcome,
        *,
        class_label: str | None = None,
        start: int = 0,
        form: str = "",
    ) -> str:
        """The examples with one outcome, of one class or of all; `start` counts from 0."""
        return with_query(
            f"/compare/examples.{form}" if form else "/compare/examples",
            self._compared
            | {
                "which": outcome.value,
                "class": class_label,
                "from": str(start + 1) if start and not form else None,
            },
        )

    def selection_url(self, query: str) -> str:
        """The list of runs with these runs selected, to add more."""
        return with_query("/runs", {"q": query, "sel": ",".join(self.run_ids)})

    def swapped(self) -> CompareAddress:
        """The same two runs in reverse order."""
        other: Mapping[MatrixChoice, MatrixChoice] = {"a": "b", "b": "a", "diff": "diff"}
        return replace(self, run_ids=self.run_ids[::-1], matrix=other[self.matrix])

    def without(self, run_id: str) -> CompareAddress:
        return replace(self, run_ids=tuple(each for each in self.run_ids if each != run_id))

    @property
    def _compared(self) -> dict[str, str | None]:
        return {
            "runs": ",".join(self.run_ids),
            "slice": self.part,
            "shared": "1" if self.on_shared else None,
        }

    @property
    def _shown(self) -> dict[str, str | None]:
        return {
            "value": None if self.class_metric == "recall" else self.class_metric,
            "matrix": None if self.matrix == "diff" else self.matrix,
            "curves": self.curves,
        }


def read_compare(values: Query) -> tuple[CompareAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value.

    `runs` contains run ids separated by commas; a form sends it once for each run. Runs in `sel`
    were selected before the others and come first.
    """
    notices: list[str] = []
    found = ",".join(values.getlist("runs")).split(",")
    earlier = [each for each in (values.get("sel") or "").split(",") if each in found]
    named = [*earlier, *found]
    address = CompareAddress(
        run_ids=_run_ids(named, notices),
        part=values.get("slice") or None,
        on_shared=one_of(values.get("shared"), ("0", "1"), "choice of examples", notices) == "1",
        class_metric=cast(
            ClassMetric,
            one_of(values.get("value"), get_args(ClassMetric), "value of a class", notices)
            or "recall",
        ),
        matrix=cast(
            MatrixChoice,
            one_of(values.get("matrix"), get_args(MatrixChoice), "matrix", notices) or "diff",
        ),
        curves=values.get("curves") or None,
    )
    return address, notices


Rival = Literal["champion", "best"]


def newest_url(project: str, dataset: str, rival: Rival) -> str:
    """Redirects to the comparison of the champion, or of the best run, with the newest run."""
    asked = {"dataset": dataset, "project": named_project(project), "newest": rival}
    return with_query("/compare", asked)


def is_sent_by_form(values: Query) -> bool:
    """Whether a form sent the query string, which then redirects to the canonical address."""
    return "form" in values or len(values.getlist("runs")) > 1


def read_paired_outcome(text: str | None) -> tuple[PairedOutcome, list[str]]:
    """Which examples are asked for, with a notice if the value is invalid."""
    if not text:
        return PairedOutcome.ONLY_A, []
    if text in list(PairedOutcome):
        return PairedOutcome(text), []
    known = ", ".join(PairedOutcome)
    return PairedOutcome.ONLY_A, [f"There are no examples “{text}”; use {known}."]


def _run_ids(named: Iterable[str], notices: list[str]) -> tuple[str, ...]:
    """The distinct ids in order; anything that is not an id is left out, with a notice."""
    found: dict[str, None] = {}
    for text in filter(None, (each.strip() for each in named)):
        if RUN_ID.fullmatch(text):
            found[text] = None
        else:
            notices.append(f"“{text[:40]}” is not an id of a run; it begins with r_.")
    if len(found) > MOST_COMPARED:
        notices.append(f"Only the first {MOST_COMPARED} of {len(found)} runs are compared.")
    return tuple(found)[:MOST_COMPARED]
