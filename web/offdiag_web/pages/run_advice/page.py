"""Advice on which metrics to report for a run, from its purpose and what is known of its use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from flask import Blueprint, jsonify, redirect, request
from werkzeug.wrappers import Response

from offdiag.advice.recommendation import Advice, Counsel, recommend
from offdiag.advice.situation import Goal, situation_of
from offdiag.domain.sentences import inside, typeset
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Transformation
from offdiag.metrics.symmetry import effect_words
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.app.errors import capitalised, message_of
from offdiag_web.app.parameters import understood
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Option
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.runs.frame import (
    RUN,
    results_of,
    run_page,
    stored_run,
    unlabelled_text,
)
from offdiag_web.components.tiles import Tile, metric_tile
from offdiag_web.urls.metrics import MetricAddress
from offdiag_web.urls.query_string import one_of, with_query

KNOWN = "known"


@dataclass(frozen=True, slots=True)
class AdviceAddress:
    """`about` is the class whose errors matter, None for all classes."""

    run_id: str
    goal: Goal = Goal.BOTH
    about: str | None = None
    balance_known: bool = False

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its export where `form` is "json"."""
        return with_query(
            f"/runs/{self.run_id}/advice{f'.{form}' if form else ''}",
            {
                "goal": None if self.goal is Goal.BOTH else self.goal.value,
                "about": self.about,
                "balance": KNOWN if self.balance_known else None,
            },
        )


def read_advice(run_id: str, values: Mapping[str, str]) -> tuple[AdviceAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    goal = one_of(values.get("goal"), tuple(Goal), "goal", notices) or Goal.BOTH
    balance = values.get("balance") or ""
    if balance not in {"", KNOWN}:
        notices.append(f"“balance” is “{KNOWN}” or left out, so “{balance}” was ignored.")
    about = values.get("about") or None
    return AdviceAddress(run_id, Goal(goal), about, balance == KNOWN), notices


MOST_CLASSES_TO_CHOOSE = 100
"""With more, the name of the class is typed instead of chosen."""

_GOALS: dict[Goal, str] = {
    Goal.BOTH: "misses and false alarms",
    Goal.MISSES: "false negatives: missed examples of a class",
    Goal.FALSE_ALARMS: "false positives: wrong predictions of a class",
    Goal.RANKING: "the order of the scores; the threshold comes later",
    Goal.PROBABILITIES: "the scores as probabilities",
}
_BALANCE = "Another class balance"
_EFFECTS = {
    Transformation.ROLE_SWAP: "A matrix read the wrong way round",
    Transformation.CLASS_INVERSION: "The other class called positive",
}


@dataclass(frozen=True, slots=True)
class CounselCard:
    """A metric to report or to leave out, its value here, and its properties."""

    counsel: Counsel
    of_class: str | None
    url: str
    tile: Tile
    effects: tuple[tuple[str, str], ...]


def class_options(detail: RunDetail, about: str | None) -> tuple[Option, ...]:
    """The classes with samples, rarest first; none if there are too many to choose from."""
    counted = [] if detail.results is None else _counted(detail.results)
    if len(counted) > MOST_CLASSES_TO_CHOOSE:
        return ()
    return (
        Option("", "all classes", about is None),
        *(
            Option(name, f"{name} ({numbers.plural(n, 'example')})", name == about)
            for n, name in sorted(counted)
        ),
    )


def advice_view(advice: Advice, results: RunResults) -> dict[str, object]:
    """Present advice with the values of the run."""
    notes = Notes()
    n_classes = results.matrix.n_classes
    return {
        "situation": _situation(results),
        "report": tuple(_card(counsel, results, notes, n_classes) for counsel in advice.report),
        "avoid": tuple(_card(counsel, results, notes, n_classes) for counsel in advice.avoid),
        "cautions": tuple(map(typeset, advice.cautions)),
        "notes": tuple(notes.texts),
    }


def advice_record(
    advice: Advice, results: RunResults, address: AdviceAddress
) -> dict[str, object]:
    """The advice for programs, with the values of the run."""
    record = advice.to_dict()
    for part, counsels in (("report", advice.report), ("avoid", advice.avoid)):
        for entry, counsel in zip(record[part], counsels, strict=True):
            value = _value(counsel, results)
            entry["value"] = None if value is None else value.to_dict()
    return {
        "run": address.run_id,
        "goal": address.goal.value,
        "about": address.about,
        "balance_known": address.balance_known,
        **record,
    }


def _counted(results: RunResults) -> list[tuple[int, str]]:
    """The number of samples of each class that has any."""
    counts: list[int] = results.matrix.actual.tolist()
    pairs = zip(counts, results.matrix.labels.names, strict=True)
    return [(count, name) for count, name in pairs if count]


def _size(counted: tuple[int, str]) -> int:
    return counted[0]


def _situation(results: RunResults) -> str:
    counted = _counted(results)
    total = sum(count for count, _ in counted)
    # Among equally frequent classes, the first in label order counts, as everywhere.
    largest, smallest = max(counted, key=_size), min(counted, key=_size)
    of = f"{numbers.count(total)} examples of {numbers.plural(len(counted), 'class', 'classes')}"
    if largest[0] == smallest[0]:
        return f"{of}, all equally frequent."
    return (
        f"{of}: {quoted_name(largest[1])} has {numbers.fine_percent(largest[0], total)}, "
        f"{quoted_name(smallest[1])} {numbers.fine_percent(smallest[0], total)}."
    )


def _card(counsel: Counsel, results: RunResults, notes: Notes, n_classes: int) -> CounselCard:
    spec = counsel.spec
    scale = {(0.0, 1.0): UNIT, (-1.0, 1.0): SIGNED_UNIT}.get((spec.low, spec.high))
    tile = metric_tile(spec.title, _value(counsel, results), notes, scale=scale or UNIT)
    return CounselCard(
        counsel,
        of_class=None if counsel.class_label is None else quoted_name(counsel.class_label),
        url=MetricAddress(spec.key).url(),
        tile=tile if scale is not None else replace(tile, mark=None),
        effects=tuple(_effects(spec, n_classes)),
    )


def _effects(spec: MetricSpec, n_classes: int) -> Iterator[tuple[str, str]]:
    """What the metric would and would not show: its symmetries in a few words."""
    if spec.symmetry is None:
        return
    yield _BALANCE, "unchanged" if spec.symmetry.prevalence_independent else "changes"
    for transformation, what in _EFFECTS.items():
        if transformation is Transformation.CLASS_INVERSION and n_classes != 2:
            continue
        words, partner = effect_words(spec, transformation)
        yield what, f"{words} {_inside(spec, partner)}" if partner else words


def _inside(spec: MetricSpec, partner: str) -> str:
    """The title of a metric of the same scope within a sentence: "precision", "MCC"."""
    named = CATALOGUE[spec.scope].get(partner)
    return inside(partner if named is None else named.title)


def _value(counsel: Counsel, results: RunResults) -> MetricValue | None:
    """The value of a metric here; None if it was not computed."""
    key = counsel.spec.key
    if counsel.class_label is None:
        return results.aggregate.get(key)
    code = results.matrix.labels.index[counsel.class_label]
    values = results.per_class.get(key)
    return None if values is None else values[code]


blueprint = Blueprint("run_advice", __name__)


@blueprint.get(f"{RUN}/advice")
def page(run_id: str) -> Response:
    address, notices = read_advice(run_id, request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    detail = stored_run(run_id)
    view = not_assessable = None
    unlabelled = unlabelled_text(detail)
    if detail.results is not None and not unlabelled:
        try:
            view = advice_view(_advice(detail, address), detail.results)
        except InvalidInput as refused:
            if refused.field == "about":
                notices.append(capitalised(message_of(refused)))
                address = replace(address, about=None)
                view = advice_view(_advice(detail, address), detail.results)
            else:
                not_assessable = capitalised(message_of(refused))
    return run_page(
        "run_advice/page.html",
        detail,
        "advice",
        address=address,
        goals=[Option(each.value, text, each is address.goal) for each, text in _GOALS.items()],
        classes=class_options(detail, address.about),
        view=view,
        not_assessable=not_assessable,
        unlabelled=unlabelled,
        notices=notices,
    )


@blueprint.get(f"{RUN}/advice.json")
def advice_json(run_id: str) -> Response:
    address = understood(read_advice(run_id, request.args))
    detail = stored_run(run_id)
    return jsonify(advice_record(_advice(detail, address), results_of(detail), address))


def _advice(detail: RunDetail, address: AdviceAddress) -> Advice:
    return recommend(
        situation_of(
            results_of(detail).matrix,
            goal=address.goal.value,
            about=address.about,
            balance_known=address.balance_known,
            has_scores=detail.run.score_columns > 0,
        )
    )
