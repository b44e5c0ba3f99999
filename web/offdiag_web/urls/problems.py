"""Addresses of the list of problems and of one problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from offdiag.flags.problems import Cause, Hit, Problem, ProblemState
from offdiag.store.problems import DatasetOfProblems
from offdiag_web.urls.query_string import with_query

SHOWN = ("open", "new", "snoozed", "resolved", "all")
HITS = ("", "role", Hit.CHAMPION.value, Hit.CANDIDATE.value)
_OLD_STATES = {"acknowledged": "open", "dismissed": "resolved", "closed": "resolved"}
"""States of flags, as addresses of the list of flags name them."""
_STATES = {
    "open": (ProblemState.OPEN, ProblemState.ACCEPTED),
    "new": (ProblemState.OPEN,),
    "snoozed": (ProblemState.SNOOZED,),
    "resolved": (ProblemState.DISMISSED, ProblemState.CLOSED),
    "all": tuple(ProblemState),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemsAddress:
    """Which problems are listed; empty leaves a field open. `low` shows those of low severity."""

    show: str = "open"
    dataset: str = ""
    project: str = ""
    model: str = ""
    class_label: str = ""
    cause: str = ""
    rule: str = ""
    run: str = ""
    hits: str = ""
    low: bool = False

    def url(self, form: str = "") -> str:
        """Canonical URL of the list, or of its twin where `form` is "json" or "csv"."""
        return with_query(
            f"/problems.{form}" if form else "/problems",
            {
                "show": None if self.show == "open" else self.show,
                "low": "1" if self.low else None,
                **dict(self.named()),
            },
        )

    def named(self) -> Iterator[tuple[str, str]]:
        """The fields that are set, by the name they have in addresses."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value and each.name not in ("show", "low"):
                yield "class" if each.name == "class_label" else each.name, value

    def showing(self, show: str) -> ProblemsAddress:
        """The same problems in another state."""
        return replace(self, show=show)

    def without(self, key: str) -> ProblemsAddress:
        """With one field left open."""
        emptied: dict[str, Any] = {"class_label" if key == "class" else key: ""}
        return replace(self, **emptied)

    def means(self, problem: Problem, dataset: DatasetOfProblems) -> bool:
        """Whether a problem is meant, whatever its state."""
        key = problem.key
        pairs = (
            (self.dataset, dataset.name),
            (self.project, dataset.project),
            (self.model, key.model),
            (self.class_label, key.class_label),
            (self.cause, key.cause.value),
        )
        if any(wanted and wanted != actual for wanted, actual in pairs):
            return False
        if self.rule and all(flag.rule != self.rule for flag in problem.flags):
            return False
        if self.run and all(flag.run_id != self.run for flag in problem.flags):
            return False
        if self.hits == "role":
            return problem.hits_role
        return not self.hits or Hit(self.hits) in problem.hits

    def is_shown(self, problem: Problem) -> bool:
        """Whether the severity is shown; of one run, one rule or one cause everything is."""
        is_asked_for = self.low or self.run or self.rule or self.cause
        return bool(is_asked_for) or not problem.is_low

    def in_state(self, state: ProblemState) -> bool:
        """Whether problems in a state are listed."""
        return state in _STATES[self.show]


def read_problems(values: Mapping[str, str]) -> tuple[ProblemsAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    show = values.get("show") or values.get("state") or "open"
    show = _OLD_STATES.get(show, show)
    if show not in SHOWN:
        notices.append(f"There is no state “{show}”; known are {', '.join(SHOWN)}.")
        show = "open"
    cause, hits = values.get("cause", ""), values.get("hits", "")
    if cause and cause not in set(Cause):
        notices.append(f"There is no cause “{cause}”; known are {', '.join(Cause)}.")
        cause = ""
    if hits not in HITS:
        notices.append(f"There is no “{hits}”; known are {', '.join(HITS[1:])}.")
        hits = ""
    label = values.get("class", "")
    dataset, project, model, run = (
        values.get(key, "").strip() for key in ("dataset", "project", "model", "run")
    )
    address = ProblemsAddress(
        show=show,
        dataset=dataset,
        project=project,
        model=model,
        run=run,
        class_label="" if label == "(whole run)" else label,
        cause=cause,
        rule=values.get("rule", "").strip().upper(),
        hits=hits,
        low=bool(values.get("low")),
    )
    return address, notices


def problems_of_run(run_id: str) -> str:
    """The list of what a run shows, in every state."""
    return ProblemsAddress(show="all", run=run_id).url()


def problem_url(number: int, form: str = "") -> str:
    """The page of a problem, or its twin where `form` is "json"."""
    return f"/problems/{number}{f'.{form}' if form else ''}"
