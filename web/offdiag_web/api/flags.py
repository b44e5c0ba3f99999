"""Flags and problems: lists, history and triage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from offdiag.errors import NotFound
from offdiag.flags.problem_words import problem_name
from offdiag.records.flag import (
    Decided,
    Decision,
    Decisions,
    FlagExplained,
    FlagPage,
    FlagsOfRun,
    FlagsQuery,
    FlagWithHistory,
    asked_flags,
    flag_document,
    flag_explained,
    flag_with_history,
)
from offdiag.records.problem import (
    Problem,
    Problems,
    ProblemsQuery,
    asked_problems,
    problem_documents,
)
from offdiag.records.runs.run import outdated_document
from offdiag.services.flags import triage
from offdiag.services.flags.page import browse_flag, flags_of_run
from offdiag.services.flags.rules import rules_in
from offdiag.services.flags.triage import flags_concerned
from offdiag.store.database import Database
from offdiag.store.flag_inbox import FlagPlace
from offdiag.store.problem_values import measure
from offdiag.store.problems import FoundProblems, find_problem
from offdiag_web.api.operations import author, operation, require_match, resource
from offdiag_web.api.requests import read_token, write_token
from offdiag_web.app.context import current_registry


def carry_out(
    database: Database, decision: Decision, ids: Sequence[int], *, seen: Mapping[int, int]
) -> None:
    """Apply a decision to flags, given the revisions that the caller has seen of some of them.

    Raises what `decide_flags` raises.
    """
    triage.decide_flags(
        database,
        ids,
        decision.action,
        author=author(decision.author),
        seen=seen,
        until=decision.until,
        reason=decision.reason,
        assignee=decision.assignee,
        text=decision.text,
    )


blueprint = resource("flags")


@operation(blueprint, "GET", "/flags")
def list_flags(query: FlagsQuery) -> FlagPage:
    """Read the flags of all runs, most severe first."""
    token = read_token(query.page_token)
    after = None if token is None else FlagPlace(*token)
    database = current_registry().database
    found, following = asked_flags(database, query, limit=query.limit, after=after)
    place = None if following is None else [following.rank, following.flag_id]
    return FlagPage.made_of(found, next_page_token=write_token(place))


@operation(blueprint, "GET", "/runs/<run:run_id>/flags")
def list_flags_of_run(run_id: str) -> FlagsOfRun:
    """Read the flags of a run, including closed ones, most severe first; at most 10,000."""
    database = current_registry().database
    found, outdated = flags_of_run(database, run_id)
    return FlagsOfRun(
        run=run_id,
        flags=[flag_document(entry, database.clock()) for entry in found],
        outdated=outdated_document(outdated),
    )


@operation(blueprint, "GET", "/flags/<number:number>")
def get_flag(number: int) -> FlagWithHistory:
    """Read a flag with its history."""
    registry = current_registry()
    detail = browse_flag(registry.database, number, rules_in(registry.settings))
    return flag_with_history(detail, registry.database.clock())


@operation(blueprint, "GET", "/flags/<number:number>/explanation")
def explain_flag(number: int) -> FlagExplained:
    """Read a flag with what every rule measured, the recall of every class, and better runs."""
    registry = current_registry()
    rules = rules_in(registry.settings)
    return flag_explained(browse_flag(registry.database, number, rules), registry.database.clock())


@operation(
    blueprint, "POST", "/flags/<number:number>/decisions", is_guarded=True, is_repeatable=True
)
def decide_flag(number: int, json: Decision) -> FlagWithHistory:
    """Acknowledge, snooze, dismiss, reopen, assign or comment on a flag.

    With `If-Match`, only if it has not changed since it was read.
    """
    seen = get_flag(number)
    is_seen = require_match(seen)
    carry_out(
        current_registry().database,
        json,
        [number],
        seen={number: seen.revision} if is_seen else {},
    )
    return get_flag(number)


@operation(blueprint, "POST", "/flags/decisions", is_repeatable=True)
def decide_flags(json: Decisions) -> Decided:
    """Triage several flags at once; the action applies to all of them or to none. If a revision is
    given, the flag must not have changed since.
    """
    database = current_registry().database
    ids = [flag.id for flag in json.flags]
    seen = {flag.id: flag.revision for flag in json.flags if flag.revision is not None}
    carry_out(database, json, ids, seen=seen)
    return Decided(flags=[get_flag(flag_id) for flag_id in ids])


@operation(blueprint, "GET", "/problems")
def list_problems(query: ProblemsQuery) -> Problems:
    """List the problems of the newest runs of each model, and of champions and candidates."""
    found, last = asked_problems(
        current_registry().database, query, after=read_token(query.page_token)
    )
    return Problems(problems=found.problems, next_page_token=write_token(last))


@operation(blueprint, "GET", "/problems/<number:number>")
def get_problem(number: int) -> Problem:
    """Read one problem."""
    database = current_registry().database
    with database.read() as session:
        problem, found = find_problem(session, number, now=database.clock())
        if problem is None:
            raise NotFound(
                f"no run that is looked at shows problem {problem_name(number)}.",
                field="problem",
                hint="GET /api/v1/problems lists those there are.",
            )
        measured = measure(session, FoundProblems((problem,), found.datasets))
    return problem_documents([problem], found, measured)[0]


@operation(
    blueprint, "POST", "/problems/<number:number>/decisions", is_guarded=True, is_repeatable=True
)
def decide_problem(number: int, json: Decision) -> Problem:
    """Acknowledge, snooze, dismiss, reopen, assign or comment on the flags of a problem.

    With `If-Match`, only if it has not changed since it was read.
    """
    database = current_registry().database
    shown = get_problem(number)
    seen = {number: shown.revision} if require_match(shown) else None
    concerned = flags_concerned(database, [number], json.action.value, seen=seen)
    if concerned:
        carry_out(database, json, list(concerned), seen=concerned if seen else {})
    return get_problem(number)
