"""The decision on a dataset in sentences."""

from __future__ import annotations

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.runs import chosen_here_text
from offdiag.domain.sentences import inside
from offdiag.domain.values import reason_text
from offdiag.metrics.metric_text import PER_CASES, spec_of
from offdiag.metrics.metric_text import difference as difference_in_units
from offdiag.services.champions.decision import COST, Decision, Difference
from offdiag.services.champions.leaders import Leaders
from offdiag_web.components import numbers
from offdiag_web.components.datasets import METRIC_TITLES, TITLES_OF_SETS
from offdiag_web.components.metric_values import UNDEFINED

LONGEST_NAME = 32


def title_of(metric: str) -> str:
    """The title of a metric in column heads."""
    known = METRIC_TITLES | TITLES_OF_SETS
    return known[metric] if metric in known else spec_of(metric, of_class=False).title


def title_inside(metric: str) -> str:
    return inside(title_of(metric))


def verdict_of(leaders: Leaders, n_runs: int) -> str:
    """The main sentence of the page; `n_runs` includes runs on other samples."""
    if not leaders.runs:
        # Runs of counts may be evaluated, but not with a ground truth of the dataset.
        return "No run can be ranked yet."
    if leaders.total == 1:
        only = f"1 of {numbers.count(n_runs)} runs can be ranked" if n_runs > 1 else "1 run"
        return f"{only}, nothing to compare."
    best, metric = leaders.best_set, title_inside(leaders.metric)
    of = " without sample weights" if leaders.n_weighted else ""
    run = "ranked run" if n_runs > leaders.total + leaders.n_weighted else "run"
    if not best:
        first = numbers.shortened(leaders.runs[0].run.name, longest=LONGEST_NAME)
        word = "lowest" if leaders.lower_is_better else "highest"
        why = f"not tested, because {leaders.why_not_tested}"
        return f"{first} has the {word} {metric}, perhaps by chance; {why}."
    if len(best) == 1:
        name = numbers.shortened(best[0].run.name, longest=LONGEST_NAME)
        word = "higher" if leaders.lower_is_better else "lower"
        others = f"every other {run}{of} is"
        if leaders.total > len(leaders.runs):
            n_next = len(leaders.runs) - leaders.n_chosen_here - 1
            others = f"the next {numbers.count(n_next)} runs are"
        return f"{name} leads: {others} significantly {word}.{_not_compared(leaders)}"
    total = leaders.total - leaders.n_chosen_here
    all_runs = f"{numbers.plural(total, run)}{of}"
    who = "Each" if len(best) == total else numbers.count(len(best))
    return f"{who} of {all_runs} may be the best by {metric}.{_not_compared(leaders)}"


def _not_compared(leaders: Leaders) -> str:
    """A sentence about runs that the verdict is not about, if there are any."""
    n_chosen = leaders.n_chosen_here
    return f" {chosen_here_text(n_chosen)}" if n_chosen else ""


def second_sentence(decision: Decision, amounts: Amounts | None) -> str | None:
    """ "Of these, B costs least: 780 per 1,000. To the champion −49 (95 % CI −210 to 110)."."""
    facts = decision.facts
    if amounts is None or facts.cheapest is None or len(decision.leaders.runs) < 2:
        return None
    value = facts.values[facts.cheapest][COST].value or 0.0
    name = name_of(decision.leaders, facts.cheapest)
    of_these = "Of these, " if len(decision.leaders.best_set) > 1 else ""
    least = "costs least: " if of_these or not decision.leaders.best_set else "costs "
    currency = (
        f" {facts.costs.costs.currency}" if facts.costs and facts.costs.costs.currency else ""
    )
    text = (
        f"{of_these}{name} {least}{amounts.text(value * PER_CASES)}{currency} per {PER_CASES:,}."
    )
    change = facts.to_champion
    if change is None:
        return text
    gap = amounts.signed(change.value * PER_CASES)
    if change.low is None or change.high is None:
        return f"{text} To the champion {gap}."
    low, high = (amounts.signed(end * PER_CASES) for end in (change.low, change.high))
    return f"{text} To the champion {gap} (95 % CI {low} to {high})."


def amounts_of(decision: Decision) -> Amounts | None:
    """The decimals of costs; None if no costs are set."""
    costs = [
        value.value * PER_CASES
        for values in decision.facts.values.values()
        if (value := values.get(COST)) is not None and value.value is not None
    ]
    return amounts_for(costs) if decision.facts.costs is not None and costs else None


def pending(leaders: Leaders) -> str | None:
    if not leaders.n_outdated:
        return None
    total = leaders.total + leaders.n_outdated
    return (
        f"Evaluating {numbers.count(leaders.total)} of {numbers.count(total)} on labels "
        f"v{leaders.truth_number}; the others follow."
    )


def why_empty(decision: Decision) -> str:
    size = decision.size
    if size.truth_number is None:
        return "No labels of single examples, by which runs are ranked"
    if not size.n_labelled:
        return f"0 of {numbers.count(size.n_samples)} labelled"
    if decision.why_undefined is not None:
        return f"{title_of(decision.leaders.metric)} is {UNDEFINED}: " + reason_text(
            decision.why_undefined
        )
    n_waiting = size.n_runs - size.n_failed
    if not n_waiting:
        return f"The evaluation of {numbers.plural(size.n_failed, 'run')} failed"
    waiting = f"{numbers.plural(n_waiting, 'run waits', 'runs wait')} for evaluation"
    return (
        f"{waiting}, that of {numbers.count(size.n_failed)} failed" if size.n_failed else waiting
    )


def drop_title(leaders: Leaders) -> str:
    return f"first significant {'rise' if leaders.lower_is_better else 'drop'}"


def drop_text(decision: Decision) -> str | None:
    drop = decision.facts.drop
    if drop is None:
        return None
    leaders = decision.leaders
    return (
        f"{drop_title(leaders).capitalize()}: {name_of(leaders, drop.run_id)}, "
        f"{difference_text(leaders.metric, drop.difference)} from "
        f"{name_of(leaders, drop.best_id)}."
    )


def difference_text(metric: str, change: Difference) -> str:
    """ "+1.5 pp (−3.5 pp to +6.4 pp)"."""
    spec = spec_of(metric, of_class=False)
    text = difference_in_units(change.value, spec)
    if change.low is None or change.high is None:
        return text
    low, high = (difference_in_units(end, spec) for end in (change.low, change.high))
    return f"{text} ({low} to {high})"


def name_of(leaders: Leaders, run_id: str) -> str:
    name = next((each.run.name for each in leaders.runs if each.run.id == run_id), run_id)
    return numbers.shortened(name, longest=LONGEST_NAME)
