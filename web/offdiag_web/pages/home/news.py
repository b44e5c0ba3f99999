"""News since the last visit: problems, drops, label versions, champions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import PromotionRole
from offdiag.flags.problem_words import problem_title
from offdiag.flags.problems import Hit, Problem
from offdiag.flags.verdict import Severity
from offdiag.metrics.metric_text import difference, spec_of, title
from offdiag.services.champions.dataset_status import DatasetStatus
from offdiag.services.champions.drops import RunDrop
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns
from offdiag.store.home_overview import NewLabels
from offdiag.store.promotions import PromotionRecord
from offdiag_web.components import numbers
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.flags import problem_url

MOST_NEWS = 5


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened since the last visit; `is_bad` if it calls for action."""

    title: str
    detail: str
    url: str
    symbol: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class NewsView:
    """The news; `n_problems` is the number of new problems if the lines do not include all."""

    lines: tuple[News, ...]
    n_problems: str


def news_view(
    datasets: Sequence[tuple[DatasetFacts, LoggedRuns]],
    statuses: Mapping[int, DatasetStatus],
    problems: Sequence[Problem],
    others: Sequence[Sequence[News]],
    *,
    since: datetime,
) -> NewsView:
    """At most `MOST_NEWS` events after a time: problems, drops, then `others`."""
    facts = {dataset.id: dataset for dataset, _ in datasets}
    of_problems = [
        _new_problem(each, facts[each.key.dataset_id])
        for each in problems
        if each.is_new(since) and each.key.dataset_id in facts
    ]
    kinds = [
        of_problems,
        [
            _drop(recent, status.ranked.key, facts[id_])
            for id_, status in statuses.items()
            if (recent := [drop for drop in status.drops if drop.run.created_at > since])
        ],
        *others,
    ]
    # They are chosen from each kind in turn, and shown by kind.
    turns = sorted((turn, kind) for kind, some in enumerate(kinds) for turn in range(len(some)))
    chosen = sorted((kind, turn) for turn, kind in turns[:MOST_NEWS])
    news = [kinds[kind][turn] for kind, turn in chosen]
    is_cut = sum(each in of_problems for each in news) < len(of_problems)
    return NewsView(tuple(news), numbers.count(len(of_problems)) if is_cut else "")


def _new_problem(problem: Problem, dataset: DatasetFacts) -> News:
    roles = [hit.value for hit in problem.hits if hit in (Hit.CHAMPION, Hit.CANDIDATE)]
    where = " and ".join(roles) or problem.key.model
    return News(
        problem_title(problem.key),
        ", ".join(part for part in (dataset.name, where) if part),
        problem_url(problem.number),
        "▲" if problem.severity is Severity.CRITICAL else "◆",
        is_bad=True,
    )


def _drop(drops: Sequence[RunDrop], metric: str, dataset: DatasetFacts) -> News:
    """The newest runs of one or more models of a dataset; the largest drop comes first.

    The value goes up if less of the metric is better.
    """
    runs = sorted(drops, key=lambda each: abs(each.difference), reverse=True)
    names = numbers.listed([numbers.shortened(drop.run.name, longest=26) for drop in runs])
    fell = runs[0].difference
    size = difference(abs(fell), spec_of(metric, of_class=False)).lstrip("+")
    size = size.replace(" ", "\N{NO-BREAK SPACE}")
    return News(
        f"{title(metric)} {'down' if fell < 0 else 'up'} {size}",
        f"{dataset.name}, {names}",
        f"/runs/{runs[0].run.id}",
        "◆",
        is_bad=True,
    )


def label_news(labels: NewLabels) -> News:
    """A label version, and the number of runs with results on it."""
    url = DatasetAddress(labels.project, labels.dataset).impact_url(labels.number)
    if not labels.n_runs:
        return News(f"labels v{labels.number}", f"{labels.dataset}, no runs", url, "✓")
    n_evaluated, n_runs = numbers.count(labels.n_evaluated), numbers.plural(labels.n_runs, "run")
    is_done = labels.n_evaluated == labels.n_runs
    return News(
        f"labels v{labels.number} {'evaluated' if is_done else 'in evaluation'}",
        f"{labels.dataset}, {n_evaluated} of {n_runs}",
        url,
        "✓" if is_done else "…",
    )


def promotion_news(project: str, dataset: str, made: PromotionRecord) -> News:
    """A champion or candidate that was named or withdrawn."""
    by = f", by {made.author}" if made.author else ""
    role = "champion" if made.role is PromotionRole.CHAMPION else "candidate"
    text = f"no {role} now" if made.run_id is None else f"{made.run_name} is {role}"
    url = DatasetAddress(project, dataset).url()
    return News(text, f"{dataset}{by}", url, "★" if made.run_id else "–")
