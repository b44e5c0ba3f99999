"""What speaks against shipping: open problems of the dataset, and what its errors cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import Task
from offdiag.flags.problem_words import problem_title
from offdiag.flags.problems import Hit, ProblemSummary
from offdiag.services.champions.decision import Decision
from offdiag_web.components import numbers
from offdiag_web.components.controls import Moment, moment
from offdiag_web.components.flags import SeverityMark, severity_mark
from offdiag_web.urls.costs import CostsAddress, new_costs_url
from offdiag_web.urls.problems import problem_url

MOST_SHOWN = 3
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """An open problem; `hits` are the runs that matter and show it."""

    severity: SeverityMark
    title: str
    url: str
    model: str
    hits: tuple[str, ...]
    since: Moment


@dataclass(frozen=True, slots=True)
class CostLine:
    """A cost matrix about the classes of the dataset; `note` is what was said about it."""

    name: str
    url: str
    is_default: bool
    note: str


@dataclass(frozen=True, slots=True)
class CostsCard:
    """The first cost matrices, how many more there are, and where another one is made."""

    lines: tuple[CostLine, ...]
    n_more: str
    new_url: str


def problem_lines(problems: Sequence[ProblemSummary], *, now: datetime) -> tuple[ProblemLine, ...]:
    """The first of the open problems of a dataset."""
    return tuple(
        ProblemLine(
            severity_mark(each.severity),
            problem_title(each.key),
            problem_url(each.number),
            each.key.model,
            tuple(hit.value for hit in each.hits if hit in (Hit.CHAMPION, Hit.CANDIDATE)),
            moment(each.raised_at, now=now),
        )
        for each in problems[:MOST_SHOWN]
    )


def costs_card(decision: Decision) -> CostsCard | None:
    """The costs by which runs can be judged; None where examples have sets of labels."""
    dataset = decision.dataset
    if dataset.task is Task.MULTILABEL:
        return None
    default = decision.facts.costs
    in_order = sorted(
        decision.costs, key=lambda each: default is None or each.name != default.name
    )
    lines = []
    for each in in_order[:MOST_SHOWN]:
        is_default = default is not None and each.name == default.name
        version = default.version if is_default and default is not None else each.version
        lines.append(
            CostLine(
                name=f"{numbers.shortened(each.name, longest=_LONGEST_NAME)} v{version}",
                url=CostsAddress(each.project, each.name, version).url(),
                is_default=is_default,
                note=numbers.shortened(each.note or "", longest=80),
            )
        )
    n_more = len(decision.costs) - len(lines)
    return CostsCard(
        tuple(lines),
        numbers.count(n_more) if n_more else "",
        new_costs_url(dataset.project, dataset.name),
    )
