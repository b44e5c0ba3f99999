"""How much wrong labels matter for the models of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.records.datasets.label_errors import ModelUnderNoise, Noise, noise_document
from offdiag.services.samples.noise import USUAL_SHARE, LabelNoise, label_noise
from offdiag_web.app.context import current_registry, kept_suspects
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.exports import json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.components.datasets import DATASET, dataset_frame, find_in_any_project
from offdiag_web.components.numbers import percent
from offdiag_web.urls.datasets import DatasetAddress

blueprint = Blueprint("label_noise", __name__)
find_in_any_project(blueprint)

MOST_CLASSES = 10


@dataclass(frozen=True, slots=True)
class NoiseLine:
    """A model, with its ranges as text; empty if noise cannot be estimated."""

    model: str
    run: str
    accuracy: str
    estimated: str
    any_noise: str
    ranks: str
    recalls: tuple[tuple[str, str], ...]
    """Classes with the widest ranges of recall."""


@blueprint.get(f"{DATASET}/noise")
def page(name: str) -> Response:
    share, notices = _share()
    found = _found(name, share)
    document = noise_document(found)
    html = render_template(
        "samples/noise.html",
        notices=notices,
        address=DatasetAddress(document.project, document.dataset),
        frame=dataset_frame(found.dataset, found.size, current="suspects"),
        found=document,
        share=f"{100 * share:g}",
        statement=statement(document),
        lines=tuple(_line(each) for each in document.models),
    )
    return make_response(html)


@blueprint.get(f"{DATASET}/noise.json")
def noise_json(name: str) -> Response:
    return json_response(noise_document(_found(name, _share()[0])))


def _found(name: str, share: float) -> LabelNoise:
    project = requested_project()
    refuse_unread()
    return label_noise(
        current_registry().database,
        project=project,
        dataset=name,
        share=share,
        kept=kept_suspects(),
    )


def _share() -> tuple[float, list[str]]:
    """The share in the address, given in percent, with a notice if it is invalid."""
    given = request.args.get("share", "")
    try:
        share = float(given) / 100 if given else USUAL_SHARE
    except ValueError:
        share = -1.0
    if 0 <= share <= 0.5:
        return share, []
    return USUAL_SHARE, [f"“{given[:20]}” is not a share from 0 to 50 %; 3 % is used instead."]


def statement(found: Noise) -> str:
    """ "An estimated 2.1 % of 900 labels are wrong, or all models err on them."."""
    if found.estimated is None:
        return found.missing or ""
    return (
        f"An estimated {percent(found.estimated, 1)} of {found.n_labelled:,} labels are wrong, "
        "or all models err on them."
    )


def _line(each: ModelUnderNoise) -> NoiseLine:
    known = [r for r in each.recalls if r.low is not None and r.high is not None]
    widest = sorted(known, key=lambda r: (r.low or 0) - (r.high or 0))[:MOST_CLASSES]
    ranks = f"{each.rank_low} to {each.rank_high}"
    return NoiseLine(
        model=each.model,
        run=each.run,
        accuracy=percent(each.accuracy, 1),
        estimated="" if each.low is None else _range(each.low, each.high or 0),
        any_noise=_range(each.any_low, each.any_high),
        ranks=str(each.rank_low) if each.rank_low == each.rank_high else ranks,
        recalls=tuple((r.label, _range(r.low or 0, r.high or 0)) for r in widest),
    )


def _range(low: float, high: float) -> str:
    first = percent(low, 1).removesuffix("\N{NARROW NO-BREAK SPACE}%")
    return f"{first} to {percent(high, 1)}"
