"""The glossary: every metric, its definition and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from flask import (
    Blueprint,
    abort,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response

from offdiag.domain.sentences import inside
from offdiag.metrics.catalogue import (
    CATALOGUE,
    DIRECTION_WORDS,
    SCOPE_TITLES,
    SPECS,
    MetricSpec,
    Scope,
    range_words,
)
from offdiag.metrics.symmetry import (
    GROUP_WORDS,
    LETTERS,
    TRANSFORMATION_WORDS,
    effect_words,
    imbalance_effect,
)
from offdiag.services.datasets import browse_mapped_runs
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import csv_response
from offdiag_web.app.parameters import understood
from offdiag_web.pages.glossary.metric_map import (
    MAP_COLUMNS,
    map_rows,
    map_view,
    mapped_spec,
    share_at,
)
from offdiag_web.urls.metrics import MetricAddress, read_metric
from offdiag_web.urls.query_string import with_query

METRIC_COLUMNS = ("scope", "key", "title", "formula", "low", "high", "better", "version", "source")
LETTER_WORDS = {
    "T": "actual and predicted swapped",
    "L": "positive and negative class swapped",
    "S": "all predictions inverted",
    "F": "classes and predictions inverted",
    "P": "other class sizes",
}


@dataclass(frozen=True, slots=True)
class GlossaryLine:
    """One metric; `withstands` has one entry for each letter, None where it does not apply."""

    spec: MetricSpec
    url: str
    range: str
    withstands: tuple[bool | None, ...]


def glossary_view(query: str) -> str:
    """All metrics whose key, name, formula or names elsewhere contain every word of `query`."""
    words = query.lower().split()
    groups = []
    for scope in Scope:
        lines = tuple(_line(spec) for spec in CATALOGUE[scope].values() if _is_meant(spec, words))
        if lines:
            groups.append((scope.value, SCOPE_TITLES[scope], lines))
    return render_template(
        "glossary/page.html", query=query, groups=tuple(groups), letters=LETTER_WORDS
    )


def metric_row(spec: MetricSpec) -> tuple[str | float, ...]:
    """A line of the CSV, in the order of `METRIC_COLUMNS`."""
    return (
        *(spec.scope.value, spec.key, spec.title, spec.formula, spec.low, spec.high),
        *(spec.direction.value, spec.version, spec.source),
    )


def _is_meant(spec: MetricSpec, words: list[str]) -> bool:
    known = " ".join(
        (spec.key, spec.title, spec.symbol, spec.formula, spec.notes, *spec.other_names.values())
    ).lower()
    return all(word in known for word in words)


def _line(spec: MetricSpec) -> GlossaryLine:
    symmetry = spec.symmetry
    return GlossaryLine(
        spec,
        url=MetricAddress(spec.key).url(),
        range=range_words(spec).replace("-", "\N{MINUS SIGN}"),
        withstands=tuple(
            None if symmetry is None else bool(getattr(symmetry, name))
            for name in LETTERS.values()
        ),
    )


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition of the key. `scope` says of what, `effects` are its symmetries in words."""

    spec: MetricSpec
    scope: str
    range: str
    direction: str
    effects: tuple[tuple[str, str, str | None, str | None], ...]


def definitions(key: str) -> tuple[Definition, ...]:
    """All definitions of a key, those of a confusion matrix first.

    Definitions that differ only in their subject are shown once.
    """
    found: list[Definition] = []
    for spec in specs_of(key):
        definition = Definition(
            spec,
            scope=SCOPE_TITLES[spec.scope],
            range=range_words(spec).replace("-", "\N{MINUS SIGN}"),
            direction=DIRECTION_WORDS[spec.direction],
            effects=tuple(_effects(spec)),
        )
        same = next((each for each in found if _tells_the_same(each.spec, spec)), None)
        if same is None:
            found.append(definition)
        else:
            also = f"{same.scope}, and {inside(definition.scope)}"
            found[found.index(same)] = replace(same, scope=also)
    return tuple(found)


def _tells_the_same(one: MetricSpec, other: MetricSpec) -> bool:
    """Whether two differ only in their subject, its symmetries, and what no definition shows."""
    return one == replace(
        other,
        scope=one.scope,
        symmetry=one.symmetry,
        interval=one.interval,
        namesakes=one.namesakes,
    )


def specs_of(key: str) -> tuple[MetricSpec, ...]:
    """The entries of the catalogue under a key, none for an unknown one."""
    return tuple(CATALOGUE[scope][key] for scope in Scope if key in CATALOGUE[scope])


def definition_record(spec: MetricSpec) -> dict[str, object]:
    """A definition as JSON; an open end of the range is null."""
    ends = [None if abs(end) == float("inf") else end for end in (spec.low, spec.high)]
    return {
        "key": spec.key,
        "scope": spec.scope.value,
        "title": spec.title,
        "formula": spec.formula,
        "low": ends[0],
        "high": ends[1],
        "better": spec.direction.value,
        "version": spec.version,
        "source": spec.source,
        "undefined_when": {reason.value: text for reason, text in spec.undefined_when.items()},
        "ignores": list(spec.ignores),
        "imbalance": _imbalance_record(spec),
        "names_elsewhere": dict(spec.other_names),
    }


def _imbalance_record(spec: MetricSpec) -> dict[str, object] | None:
    effect = imbalance_effect(spec)
    return None if effect is None else asdict(effect)


def _effects(spec: MetricSpec) -> Iterator[tuple[str, str, str | None, str | None]]:
    if spec.symmetry is None:
        return
    for transformation, what in TRANSFORMATION_WORDS.items():
        words, partner = effect_words(spec, transformation)
        url = None if partner is None else MetricAddress(partner).url()
        yield (what, words, partner, url)
    independent = spec.symmetry.prevalence_independent
    yield (
        "more or fewer examples of one actual class",
        "unchanged" if independent else "changes",
        None,
        None,
    )
    effect = imbalance_effect(spec)
    if effect is not None:
        yield (
            "two classes: other imbalance, same recall and specificity",
            GROUP_WORDS[effect.group],
            None,
            None,
        )


blueprint = Blueprint("glossary", __name__)

_LONGEST_QUERY = 200


@blueprint.get("/glossary")
def page() -> Response:
    query = request.args.get("q", "").strip()[:_LONGEST_QUERY]
    if "q" in request.args and request.args["q"] != query:
        return redirect(with_query(url_for("glossary.page"), {"q": query}))
    return make_response(glossary_view(query))


@blueprint.get(f"/glossary{DATA_FORMAT}")
def export(form: str) -> Response:
    if form == "json":
        return jsonify({"metrics": [definition_record(spec) for spec in SPECS]})
    return csv_response("metrics", METRIC_COLUMNS, map(metric_row, SPECS))


@blueprint.get("/glossary/<key>")
def metric(key: str) -> Response:
    found = definitions(key) or abort(404)
    address, notices = read_metric(key, request.args)
    if "form" in request.args and not notices:
        return redirect(address.url())
    spec = mapped_spec(specs_of(key))
    drawn = None
    if spec is not None:
        mapped = browse_mapped_runs(current_registry().database, address.dataset_id)
        if address.dataset_id is not None and mapped.dataset is None:
            notices.append(f"There is no dataset {address.dataset_id} with two classes.")
        drawn = map_view(spec, address, mapped)
    return make_response(
        render_template(
            "glossary/metric.html",
            key=key,
            definitions=found,
            map=drawn,
            notices=notices,
            address=address,
        )
    )


@blueprint.get(f"/glossary/<key>{DATA_FORMAT}")
def metric_export(key: str, form: str) -> Response:
    specs = specs_of(key) or abort(404)
    address = understood(read_metric(key, request.args))
    if form == "json":
        return jsonify({"definitions": [definition_record(spec) for spec in specs]})
    spec = mapped_spec(specs) or abort(404)
    mapped = browse_mapped_runs(current_registry().database, address.dataset_id)
    rows = map_rows(spec, float(share_at(address, mapped)))
    return csv_response(f"{key}-map", MAP_COLUMNS, rows)
