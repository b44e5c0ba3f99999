"""The decision page of a dataset: which run to use, and what would change that.

It also shows reasons against shipping: open problems, and what errors cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import render_template
from markupsafe import Markup

from offdiag.domain.runs import MOST_COMPARED, PromotionRole, Task, not_ranked_text
from offdiag.flags.problem_words import problem_title
from offdiag.flags.problems import Problem
from offdiag.metrics.metric_text import PER_CASES, spec_of
from offdiag.metrics.metric_text import difference as difference_in_units
from offdiag.metrics.paired.sample_size import about
from offdiag.services.champions.decision import Decision, LabelBudget, metrics_of
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment, class_words
from offdiag_web.components.datasets import (
    dataset_frame,
    labels_command,
    log_snippet,
    runs_of_dataset_url,
)
from offdiag_web.components.flags import severity_mark
from offdiag_web.components.model_marks import model_key
from offdiag_web.pages.datasets.contenders import (
    MOST_IN_TABLE,
    Marks,
    best_rows,
    candidate_card,
    past_decision,
    role_card,
    rows_note,
)
from offdiag_web.pages.datasets.pictures import Asked, scatter_of, trend_of
from offdiag_web.pages.datasets.verdict import (
    amounts_of,
    drop_text,
    name_of,
    pending,
    second_sentence,
    title_of,
    verdict_of,
    why_empty,
)
from offdiag_web.urls.compare import CompareAddress
from offdiag_web.urls.costs import CostsAddress, WhatIfAddress, new_costs_url
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.flags import ProblemsAddress, problem_url

MOST_CLASSES = 5
"""Most classes to label that are named."""
MOST_FORECAST = 20_000
"""Larger numbers of labels are not distinguished."""


@dataclass(frozen=True, slots=True)
class BudgetView:
    """How many labels would decide. `needed` is the sentence in large letters.

    `by_class` lists the first classes to label with their number and a bar; `more` says what all
    classes need together.
    """

    needed: str
    between: str
    present: str
    difference: str
    by_class: tuple[tuple[str, str, Markup], ...]
    more: str


def decision_view(
    decision: Decision,
    asked: Asked,
    problems: Sequence[Problem],
    **beside: object,
) -> str:
    """Present the decision, with the open problems of the dataset and the values in `beside`."""
    dataset, leaders, facts = decision.dataset, decision.leaders, decision.facts
    address = DatasetAddress(dataset.project, dataset.name)
    marks = Marks(decision)
    shown = leaders.best_set or leaders.runs
    champion_id = None if decision.champion is None else decision.champion.run_id
    in_set = [each.run.id for each in leaders.best_set[:MOST_COMPARED]]
    # The first run is the reference, so the champion comes first.
    in_set.sort(key=lambda run_id: run_id != champion_id)
    challenger = decision.challenger
    amounts = amounts_of(decision)
    return render_template(
        "datasets/decision.html",
        address=address,
        frame=dataset_frame(dataset, decision.size, current="decision"),
        metric=title_of(leaders.metric),
        verdict=verdict_of(leaders, decision.size.n_runs),
        second=second_sentence(decision, amounts),
        pending=pending(leaders),
        not_ranked=not_ranked_text(leaders.n_weighted) if leaders.n_weighted else None,
        compare=(CompareAddress(tuple(in_set)).url(), len(in_set)) if len(in_set) > 1 else None,
        threshold_url=WhatIfAddress().decisions_url(challenger.run.id)
        if challenger is not None
        and challenger.run.has_scores
        and dataset.task is not Task.MULTILABEL
        else None,
        approve_url=address.approve_url(challenger.run.id) if challenger else None,
        across=tuple(
            Segment(
                title_of(key),
                address.decision_url(x=key, by_cost=asked.by_cost),
                key == asked.across,
            )
            for key in metrics_of(dataset.task, leaders.metric)
            if any(key in values for values in facts.values.values())
        ),
        up=(
            Segment("Worst class", address.decision_url(x=asked.across), not asked.by_cost),
            Segment("Cost", address.decision_url(x=asked.across, by_cost=True), asked.by_cost),
        )
        if facts.costs is not None
        else (),
        scatter=scatter_of(decision, asked, marks),
        legend=tuple((model_key(mark), mark.name or "no model") for mark in marks.shown()),
        rows=tuple(best_rows(decision, shown[:MOST_IN_TABLE], marks, amounts)),
        rows_title="Best set" if leaders.best_set else "Runs",
        cost_title=None if amounts is None else f"Cost / {numbers.count(PER_CASES)}",
        rows_note=rows_note(leaders, facts.best_of_many),
        runs_url=runs_of_dataset_url(address),
        champion=role_card(decision, decision.champion, PromotionRole.CHAMPION, marks),
        candidate=candidate_card(decision, marks),
        history=tuple(past_decision(each) for each in decision.history),
        trend=trend_of(decision, marks),
        drop=drop_text(decision),
        budget=None if facts.budget is None else budget_view(decision, facts.budget),
        problems=problems[:MOST_SHOWN],
        severity_mark=severity_mark,
        problem_title=problem_title,
        problem_url=problem_url,
        n_problems=numbers.count(len(problems)) if problems else "",
        problems_url=ProblemsAddress(dataset=dataset.name, project=dataset.project).url(),
        costs=costs_card(decision),
        n_runs=decision.size.n_runs,
        n_failed=decision.size.n_failed,
        of_class=class_words(dataset.task).one,
        why_empty=why_empty(decision),
        # Labels of examples cannot be added to runs of counts, which are already evaluated.
        snippet=log_snippet(dataset.project, dataset.name),
        command=labels_command(dataset.project, dataset.name),
        is_unlabelled=decision.size.truth_number is not None and not decision.size.n_labelled,
        **beside,
    )


def budget_view(decision: Decision, budget: LabelBudget) -> BudgetView:
    spec = spec_of(decision.leaders.metric, of_class=False)
    matters = difference_in_units(budget.difference, spec).lstrip("+")
    n_needed = about(budget.needed, more_than=budget.n_samples)
    needed = f"About {numbers.count(n_needed)} labelled examples"
    if budget.needed > MOST_FORECAST:
        needed = f"More than {numbers.count(MOST_FORECAST)} labelled examples"
    elif budget.low is not None and budget.high is not None:
        low, high = (numbers.count(about(end)) for end in (budget.low, budget.high))
        needed = f"{needed} ({low} – {high})"
    is_enough = budget.needed <= budget.n_samples
    if is_enough:
        needed = f"The present {numbers.plural(budget.n_samples, 'labelled example')}"
    names = (name_of(decision.leaders, each) for each in (budget.first_id, budget.second_id))
    detectable = (
        ""
        if budget.detectable is None
        else difference_in_units(budget.detectable, spec).lstrip("+")
    )
    return BudgetView(
        needed=needed,
        between=f"{'detect' if is_enough else 'in all would detect'} a difference of {matters} "
        f"between {' and '.join(names)} (power 80 %).",
        present=f"{_present(budget, is_enough)} detect {detectable}."
        if detectable not in ("", matters)
        else "",
        difference=f"{100 * budget.difference:g}",
        by_class=_by_class(decision, budget),
        more=_more(budget),
    )


def _present(budget: LabelBudget, is_enough: bool) -> str:
    return "They even" if is_enough else f"The present {numbers.count(budget.n_samples)}"


def _by_class(decision: Decision, budget: LabelBudget) -> tuple[tuple[str, str, Markup], ...]:
    if sum(budget.by_class.values()) > MOST_FORECAST:
        return ()
    in_order = sorted(budget.by_class.items(), key=lambda entry: (-entry[1], entry[0]))
    largest = in_order[0][1] if in_order else 0
    return tuple(
        (
            numbers.shortened(decision.dataset.labels.names[code], longest=24),
            f"+{numbers.count(about(n))}",
            share_bar(n / largest, name=f"{numbers.whole_percent(n, largest)} of the most"),
        )
        for code, n in in_order[:MOST_CLASSES]
    )


def _more(budget: LabelBudget) -> str:
    total = sum(budget.by_class.values())
    if not total or total > MOST_FORECAST:
        return ""
    n_others = len(budget.by_class) - MOST_CLASSES
    others = (
        f", including {numbers.plural(n_others, 'other class', 'other classes')}"
        if n_others > 0
        else ""
    )
    return f"Labelled where it helps most{others}: about {numbers.count(about(total))} more."


MOST_SHOWN = 3
_LONGEST_NAME = 40


def costs_card(decision: Decision) -> dict[str, object] | None:
    """The costs by which runs can be judged; None if examples have sets of labels."""
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
            (
                f"{numbers.shortened(each.name, longest=_LONGEST_NAME)} v{version}",
                CostsAddress(each.project, each.name, version).url(),
                is_default,
                numbers.shortened(each.note or "", longest=80),
            )
        )
    n_more = len(decision.costs) - len(lines)
    return {
        "lines": tuple(lines),
        "n_more": numbers.count(n_more) if n_more else "",
        "new_url": new_costs_url(dataset.project, dataset.name),
    }
