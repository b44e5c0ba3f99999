"""The flags inbox, the flags of one run, and the page of a single flag.

That page shows what was measured, what was decided, and which runs to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from offdiag.domain.runs import RunState
from offdiag.domain.slices import parse_slice
from offdiag.errors import InvalidInput, NotFound
from offdiag.flags.assessment import ClassRecall, RuleCheck, class_recalls, rule_checks
from offdiag.flags.catalogue import RULES, RuleDescription
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Sign
from offdiag.services.flags.alternatives import AlternativeRuns, alternatives_on_class
from offdiag.services.flags.rules import RulesInForce, rules_in_force
from offdiag.services.flags.triage import end_of_snooze
from offdiag.store import flags, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import current_key
from offdiag.store.flag_conditions import FlagFilter
from offdiag.store.flag_inbox import (
    FlagEntry,
    FlagPage,
    FlagPlace,
    JudgedResults,
    flag_inbox,
    flagged_run,
)
from offdiag.store.flags import FlagEvent, FlagRecord
from offdiag.store.outdated import OutdatedResults, outdated_results
from offdiag.store.run_neighbours import RankedValue, run_ranks

FLAGS_PER_PAGE = 50
MOST_OF_A_RUN = 10_000


def browse_flags(
    database: Database,
    wanted: FlagFilter,
    *,
    after: FlagPlace | None = None,
    limit: int = FLAGS_PER_PAGE,
) -> FlagPage:
    """One page of the inbox, with the number of flags in each state.

    Raises `NotFound` for a run that does not exist, and `InvalidInput` for such a rule and for a
    slice that cannot be read.
    """
    if wanted.rule is not None:
        wanted = replace(wanted, rule=_known_rule(wanted.rule))
    if wanted.slice:
        wanted = replace(wanted, slice=str(parse_slice(wanted.slice)))
    with database.read() as session:
        if wanted.run_id is not None:
            runs.get_run(session, wanted.run_id)
        return flag_inbox(session, wanted=wanted, now=database.clock(), after=after, limit=limit)


def _known_rule(rule: str) -> str:
    known = rule.strip().upper()
    if known not in RULES:
        raise InvalidInput(
            f"there is no rule {rule!r}.", field="rule", hint=f"Rules are {', '.join(RULES)}."
        )
    return known


def flags_of_run(
    database: Database, run_id: str
) -> tuple[tuple[FlagEntry, ...], OutdatedResults | None]:
    """All flags of a run, closed ones too, most severe first, and why its results are outdated.

    The latter is None if they are not. Raises `NotFound`.
    """
    wanted = FlagFilter(run_id=run_id)
    with database.read() as session:
        run = runs.get_run(session, run_id)
        is_failed = run.state is RunState.FAILED
        outdated = outdated_results(
            session,
            run_id,
            has_failed=is_failed and current_key(session, run_id) is not None,
        )
        found = flag_inbox(session, wanted=wanted, now=database.clock(), limit=MOST_OF_A_RUN)
    return found.entries, outdated


def raised_flags(database: Database, run_id: str) -> list[FlagRecord]:
    """The flags of a run that are not closed, whether decided or not, most severe first."""
    with database.read() as session:
        found = flags.flags_of_run(session, run_id)
    firing = [flag for flag in found if flag.status.state is not FlagState.CLOSED]
    return sorted(firing, key=lambda flag: (-flag.status.severity.rank, flag.id))


RANKED_KEYS = ("overall_accuracy", "balanced_accuracy")


@dataclass(frozen=True)
class FlagDetail:
    """One flag with its rule, what all rules measured, its history, and better runs.

    `rule` is None for a flag of a rule that this version no longer has. `checks` are what the
    rules about the matrix compare with the current thresholds; `judged_by_others` says that the
    flag was raised by other rules or thresholds. `ranks` are those of the run among all runs on
    its ground truth, by key.
    """

    entry: FlagEntry
    rule: RuleDescription | None
    results: JudgedResults | None
    checks: tuple[RuleCheck, ...]
    judged_by_others: bool
    thresholds: Thresholds
    ranks: Mapping[str, RankedValue]
    history: tuple[FlagEvent, ...]
    better: AlternativeRuns

    @property
    def checked(self) -> list[RuleCheck]:
        """The rule of the flag with what it measured then, and the others with current values."""
        content, state = self.entry.flag.content, self.entry.flag.status.state
        own = RuleCheck(
            content.rule,
            content.class_label,
            fires=state is not FlagState.CLOSED,
            conditions=tuple(map(_condition, content.fired)),
        )
        others = [each for each in self.checks if each.rule != content.rule]
        # Rules that fire come first; within both parts the order of the ids is kept.
        return [own, *sorted(others, key=lambda each: not each.fires)]

    @property
    def recalls(self) -> list[ClassRecall]:
        """The recall of every class with samples; empty without results."""
        return [] if self.results is None else class_recalls(self.results.counted)


def _condition(stored: Mapping[str, Any]) -> Condition:
    return Condition(
        what=stored["what"],
        measured=stored["measured"],
        sign=Sign(stored["sign"]),
        threshold=stored["threshold"],
        holds=stored["holds"],
        reason=stored.get("reason"),
    )


def browse_flag(database: Database, flag_id: int, rules: RulesInForce | None = None) -> FlagDetail:
    """One flag in six statements. Raises `NotFound`.

    `rules` are those in force, by default those in the current settings.
    """
    in_force = rules or rules_in_force()
    with database.read() as session:
        flagged = flagged_run(session, flag_id)
        if flagged is None:
            raise NotFound(
                f"there is no flag {flag_id}.",
                field="flag",
                hint="`offdiag flags list` shows the flags.",
            )
        entry, results = flagged.entry, flagged.results
        content = entry.flag.content
        return FlagDetail(
            entry=entry,
            rule=RULES.get(content.rule),
            results=results,
            checks=()
            if results is None
            else rule_checks(
                results.counted, in_force.thresholds, class_label=content.class_label
            ),
            judged_by_others=results is not None
            and not (results.rules_digest or "").startswith(in_force.digest),
            thresholds=in_force.thresholds,
            ranks=run_ranks(session, entry.flag.run_id, RANKED_KEYS),
            history=(
                *flags.events_of(session, flag_id),
                *end_of_snooze(entry.flag, database.clock()),
            ),
            better=alternatives_on_class(session, flagged),
        )
