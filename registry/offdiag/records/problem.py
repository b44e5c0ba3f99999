"""Problems of a model on a dataset, over its newest runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.flags.problem_words import problem_title, value_now
from offdiag.flags.problems import Cause, Hit, ProblemState, in_order, place_of
from offdiag.flags.verdict import Severity
from offdiag.records.base import MOST_ON_A_PAGE, RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.flags.problems import Problem as ProblemRead
    from offdiag.store.database import Database
    from offdiag.store.problem_values import Measured
    from offdiag.store.problems import FoundProblems


class ProblemsQuery(RequestBody):
    """Filters for problems; without a state, unresolved problems."""

    limit: int | None = Field(
        default=None, ge=1, le=MOST_ON_A_PAGE, description="By default all are on one page."
    )
    page_token: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="`next_page_token` of the previous page, with the same query.",
    )
    state: ProblemState | None = None
    low: bool = Field(
        default=False, description="Include problems of low severity and of old runs."
    )
    dataset: str | None = None
    project: str | None = None
    model: str | None = None


class Problem(ResponseBody):
    """A problem of a model on a dataset, over its newest runs."""

    id: int
    title: str
    dataset: str
    project: str
    model: str | None
    cause: Cause
    class_label: str | None
    slice: str | None = Field(default=None, description="Null: about all examples.")
    state: ProblemState
    severity: Severity
    hits: list[Hit] = Field(description="Which relevant runs show it; old: none of them.")
    rules: list[str]
    runs_affected: int
    runs_looked_at: int
    since: datetime = Field(description="When the first run with the problem was logged.")
    raised_at: datetime = Field(description="When it was raised, or raised again after it closed.")
    low: bool
    assignee: str | None
    flag: int = Field(description="The most informative flag of the newest run.")
    run: str = Field(description="The run of that flag.")
    message: str
    value: str = Field(description="The measured value in short.")
    trend: list[float | None] = Field(description="The metric of the runs, oldest first.")
    revision: int = Field(default=0, description="Increases with each decision about the problem.")


class Problems(ResponseBody):
    """Problems, new and severe ones first."""

    problems: list[Problem]
    next_page_token: str | None = Field(
        default=None, description="None on the last page, and without `limit`."
    )


PROBLEM_COLUMNS = (
    *("id", "title", "severity", "state", "dataset", "project", "model", "cause", "class_label"),
    *("runs_affected", "runs_looked_at", "since", "raised_at", "low", "assignee", "flag", "run"),
    *("value", "message", "slice"),
)


def problem_documents(
    problems: Iterable[ProblemRead], found: FoundProblems, measured: dict[int, Measured]
) -> list[Problem]:
    """The documents of some of the problems found, in their order."""
    return [_problem(problem, found, measured[problem.number]) for problem in problems]


def chosen_problems(
    found: FoundProblems, *, state: ProblemState | None, low: bool
) -> list[ProblemRead]:
    """The problems in a state, by default the unresolved ones, in the order of lists."""
    return in_order(
        (
            problem
            for problem in found.problems
            if (low or not problem.is_low)
            and (problem.state.is_unresolved if state is None else problem.state is state)
        ),
        None,
    )


def asked_problems(
    database: Database, wanted: ProblemsQuery, *, after: Sequence[int] | None = None
) -> tuple[Problems, tuple[int, ...] | None]:
    """The requested problems that follow the place `after`, with what their worst flags measured.

    The place of the last one is returned too if others follow it.
    """
    from offdiag.store.problem_values import measure
    from offdiag.store.problems import FoundProblems, find_problems

    with database.read() as session:
        found = find_problems(
            session,
            now=database.clock(),
            dataset=wanted.dataset,
            project=wanted.project,
            model=wanted.model,
        )
        chosen = chosen_problems(found, state=wanted.state, low=wanted.low)
        following = [
            each for each in chosen if after is None or place_of(each, None) > tuple(after)
        ]
        page = following[: wanted.limit]
        measured = measure(session, FoundProblems(tuple(page), found.datasets))
    is_cut = len(page) < len(following)
    return (
        Problems(problems=problem_documents(page, found, measured)),
        place_of(page[-1], None) if is_cut else None,
    )


def _problem(problem: ProblemRead, found: FoundProblems, measured: Measured) -> Problem:
    dataset, key = found.datasets[problem.key.dataset_id], problem.key
    return Problem.made_of(
        problem,
        id=problem.number,
        title=problem_title(key),
        dataset=dataset.name,
        project=dataset.project,
        model=key.model or None,
        cause=key.cause,
        class_label=key.class_label or None,
        slice=key.slice or None,
        rules=problem.reasons,
        runs_affected=len(problem.affected),
        runs_looked_at=len(problem.runs),
        raised_at=problem.news_at,
        low=problem.is_low,
        flag=measured.flag_id,
        run=measured.run_id,
        message=measured.message,
        value=value_now(measured.rule, measured.evidence),
        trend=measured.trend,
        revision=found.revisions[problem.number],
    )
