"""Addresses of the lists of flags and of problems, and of single flags and problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.problems import Cause, Hit, Problem, ProblemState
from offdiag.flags.verdict import Severity
from offdiag.store.flag_conditions import FlagFilter
from offdiag.store.flag_inbox import FlagPlace
from offdiag.store.problems import DatasetOfProblems
from offdiag_web.urls.query_string import one_of, read_place, with_query

ALL = "all"
"""Stands for every state, including that of closed flags."""
WHOLE_RUN = "(whole run)"
"""Stands for flags that are about no class, as the value of the field for a class."""
UNASSIGNED = "(nobody)"
"""Stands for flags without an assignee, as the value of the field for a person."""

_PLACE = re.compile(r"([0-3])~([1-9]\d{0,17})")


_FIELDS = ("severity", "rule", "class", "dataset", "model", "assignee", "run", "project")
"""Fields that filter flags, by their names in addresses."""


@dataclass(frozen=True, slots=True)
class FlagListAddress:
    """Which flags are listed, in which state, from which place on; `state` None is all states.

    `fields` contains the values of filters as people write them, by their names in addresses.
    """

    state: FlagState | None = FlagState.OPEN
    fields: Mapping[str, str] = field(default_factory=dict)
    place: FlagPlace | None = None

    def url(self, form: str) -> str:
        """Canonical URL of the list as `form`, "json" or "csv"."""
        state = ALL if self.state is None else self.state.value
        return with_query(
            f"/flags.{form}",
            {
                "state": None if self.state is FlagState.OPEN else state,
                **self.fields,
                **_place_values(self.place),
            },
        )

    @property
    def filter(self) -> FlagFilter:
        """The filter for the listed flags."""
        wanted = self.fields.get
        severity = wanted("severity")
        return FlagFilter(
            state=self.state,
            at_least=Severity(severity) if severity else None,
            rule=wanted("rule"),
            class_label=_or_empty(wanted("class"), WHOLE_RUN),
            run_id=wanted("run"),
            dataset=wanted("dataset"),
            model=wanted("model"),
            project=wanted("project"),
            assignee=_or_empty(wanted("assignee"), UNASSIGNED),
        )


def read_flag_list(values: Mapping[str, str]) -> tuple[FlagListAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    given = {key: values.get(key, "").strip() for key in _FIELDS}
    given |= {"class": values.get("class", ""), "rule": given["rule"].upper()}
    for key, names in (("severity", tuple(Severity)), ("rule", tuple(RULES))):
        given[key] = one_of(given[key], names, key, notices) or ""
    state = one_of(values.get("state"), (*FlagState, ALL), "state", notices) or FlagState.OPEN
    place = read_place(values, _PLACE.fullmatch, notices)
    address = FlagListAddress(
        None if state == ALL else FlagState(state),
        {key: value for key, value in given.items() if value},
        None if place is None else FlagPlace(int(place[0][1]), int(place[0][2]), place[1]),
    )
    return address, notices


def flag_url(number: int, form: str = "") -> str:
    """The page of a flag, or its export where `form` is "json" or "csv"."""
    return f"/flags/{number}{f'.{form}' if form else ''}"


def flag_classes_url(number: int) -> str:
    """The recall and the size of every class of the run of a flag, as CSV."""
    return f"/flags/{number}/classes.csv"


def _place_values(place: FlagPlace | None) -> dict[str, str | None]:
    if place is None:
        return {}
    return {"before" if place.backwards else "after": f"{place.rank}~{place.flag_id}"}


def _or_empty(text: str | None, special: str) -> str | None:
    """The value that the store looks for: None for any, the empty text, or a name."""
    return "" if text == special else text


SHOWN = ("open", "new", "snoozed", "resolved", "all")
HITS = ("", "role", Hit.CHAMPION.value, Hit.CANDIDATE.value)
_OLD_STATES = {"acknowledged": "open", "dismissed": "resolved", "closed": "resolved"}
"""The states of problems for states in old addresses, of the list of flags."""
_STATES = {
    "open": (ProblemState.OPEN, ProblemState.ACCEPTED),
    "new": (ProblemState.OPEN,),
    "snoozed": (ProblemState.SNOOZED,),
    "resolved": (ProblemState.DISMISSED, ProblemState.CLOSED),
    "all": tuple(ProblemState),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemsAddress:
    """Which problems are listed; empty fields do not filter. `low` includes low severity."""

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
        """Canonical URL of the list, or of its export where `form` is "json" or "csv"."""
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

    def without(self, key: str) -> ProblemsAddress:
        """The same problems without one of the filters."""
        emptied: dict[str, Any] = {"class_label" if key == "class" else key: ""}
        return replace(self, **emptied)

    def means(self, problem: Problem, dataset: DatasetOfProblems) -> bool:
        """Whether a problem passes the filters, whatever its state."""
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
        """Whether its severity is shown; a list of one run, rule or cause shows every severity."""
        is_asked_for = self.low or self.run or self.rule or self.cause
        return bool(is_asked_for) or not problem.is_low

    def in_state(self, state: ProblemState) -> bool:
        """Whether problems in a state are listed."""
        return state in _STATES[self.show]


def read_problems(values: Mapping[str, str]) -> tuple[ProblemsAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    show = values.get("show") or values.get("state") or ""
    show = one_of(_OLD_STATES.get(show, show), SHOWN, "state", notices) or "open"
    cause = one_of(values.get("cause"), tuple(Cause), "cause", notices) or ""
    hits = values.get("hits", "")
    if hits not in HITS:
        notices.append(f"There is no “{hits}”; use {', '.join(HITS[1:])}.")
        hits = ""
    if values.get("severity"):
        notices.append(
            "Problems cannot be filtered by severity; those of all severities are shown."
        )
    rule = one_of(values.get("rule", "").strip().upper(), tuple(RULES), "rule", notices) or ""
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
        rule=rule,
        hits=hits,
        low=bool(values.get("low")),
    )
    return address, notices


def problems_of_run(run_id: str) -> str:
    """The list of the problems of a run, in every state."""
    return ProblemsAddress(show="all", run=run_id).url()


def problem_url(number: int, form: str = "") -> str:
    """The page of a problem, or its export where `form` is "json"."""
    return f"/problems/{number}{f'.{form}' if form else ''}"
