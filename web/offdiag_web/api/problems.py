"""Problems: listed, and decided about through their flags."""

from __future__ import annotations

from offdiag.errors import NotFound
from offdiag.flags.problem_words import problem_name
from offdiag.records.flag import Decision
from offdiag.records.problem import (
    Problem,
    Problems,
    ProblemsQuery,
    chosen_problems,
    problem_documents,
)
from offdiag.services.flags.problems import flags_concerned
from offdiag.store.problems import FoundProblems, find_problem, find_problems, measure
from offdiag_web.api.flags import carry_out
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry

blueprint = resource("problems")


@operation(blueprint, "GET", "/problems", answers=Problems)
def list_problems(query: ProblemsQuery) -> Problems:
    """List what is wrong with the newest runs of each model, champions and candidates."""
    database = current_registry().database
    with database.read() as session:
        found = find_problems(
            session,
            now=database.clock(),
            dataset=query.dataset,
            project=query.project,
            model=query.model,
        )
        chosen = chosen_problems(found, state=query.state, low=query.low)
        measured = measure(session, FoundProblems(tuple(chosen), found.datasets))
    return Problems(problems=problem_documents(chosen, found, measured))


@operation(blueprint, "GET", "/problems/<number:number>", answers=Problem)
def get_problem(number: int) -> Problem:
    """Read one problem."""
    database = current_registry().database
    with database.read() as session:
        problem, found = find_problem(session, number, now=database.clock())
        if problem is None:
            raise NotFound(
                f"no run that is looked at shows problem {problem_name(number)}.",
                field="problem",
                hint="GET /problems lists those there are.",
            )
        measured = measure(session, FoundProblems((problem,), found.datasets))
    return problem_documents([problem], found, measured)[0]


@operation(
    blueprint,
    "POST",
    "/problems/<number:number>/decisions",
    answers=Problem,
    is_repeatable=True,
)
def decide_problem(number: int, json: Decision) -> Problem:
    """Acknowledge, snooze, dismiss, reopen, assign or comment on the flags of a problem."""
    database = current_registry().database
    ids = flags_concerned(database, [number], json.action.value)
    if ids:
        carry_out(database, json, ids, seen={})
    return get_problem(number)
