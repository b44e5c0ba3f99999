"""Approving a run as champion of its dataset, proposing one, and withdrawing either."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.runs import PromotionRole
from offdiag.domain.slices import column_text
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.services.champions import promotions
from offdiag.services.champions.decision import Decision, browse_decision
from offdiag.services.champions.leaders import Leader
from offdiag_web.app.context import current_registry, kept_best_sets, kept_decisions, requires
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import REFUSED, Failure, failure_of
from offdiag_web.app.preferences import user_name_if_given
from offdiag_web.components import numbers
from offdiag_web.components.controls import Option
from offdiag_web.components.datasets import DATASET, dataset_frame, find_in_any_project
from offdiag_web.pages.datasets.contenders import worse_than_champion
from offdiag_web.urls.datasets import DatasetAddress

blueprint = Blueprint("dataset_approve", __name__)
find_in_any_project(blueprint)

_ROLES = {f"withdraw {role}": role for role in PromotionRole}
_LONGEST_NAME = 60


@blueprint.get(f"{DATASET}/approve")
@requires(Role.EDITOR)
def page(name: str) -> Response:
    return _form(name, request.args)


@blueprint.post(f"{DATASET}/approve")
def decide(name: str) -> Response:
    try:
        _carry_out(name, request.form)
    except (Conflict, InvalidInput, NotFound) as error:
        if error.field == "dataset":
            raise
        return _form(name, request.form, failure_of(error))
    return redirect(DatasetAddress(requested_project(), name).url(), 303)


def _carry_out(name: str, typed: Mapping[str, str]) -> None:
    """Approve, propose or withdraw, depending on the button that was pressed."""
    registry, project = current_registry(), requested_project()
    reason, author = typed.get("reason", ""), user_name_if_given()
    action = typed.get("action", "approve")
    if action in _ROLES:
        promotions.withdraw(
            registry.database,
            project=project,
            dataset=name,
            role=_ROLES[action],
            reason=reason or None,
            author=author,
            run_id=typed.get("run") or None,
        )
        return
    if action not in ("approve", "propose"):
        raise InvalidInput("no action was chosen.", field="action", hint="Use one of the buttons.")
    run_id = typed.get("run", "")
    if not run_id:
        raise InvalidInput("no run was chosen.", field="run", hint="Choose one in the list.")
    promotions.require_run_of(registry.database, run_id, project=project, dataset=name)
    conditions = [line.strip() for line in typed.get("gate", "").splitlines() if line.strip()]
    if action == "approve" and not reason.strip():
        raise InvalidInput(
            "a reason is required.", field="reason", hint="Say why you approve this run."
        )
    gate = promotions.check_gate(registry.database, run_id, conditions, registry.settings)
    if action == "propose":
        promotions.propose(
            registry.database,
            run_id,
            reason=reason or None,
            author=author,
            gate=gate,
            instead_of=typed.get("candidate"),
        )
        return
    promotions.approve(
        registry.database,
        run_id,
        reason=reason,
        author=author,
        gate=gate,
        although_gate_fails="although_gate_fails" in typed,
        instead_of=typed.get("champion"),
    )


def _choice_text(found: Decision, leader: Leader) -> str:
    """ "vit-s · 05 · r_4bcd6fgh8jkm · 0.809 · in the best set"."""
    parts = [numbers.shortened(leader.run.name, longest=_LONGEST_NAME), leader.run.id]
    if leader.run.value.value is not None:
        parts.append(numbers.metric(leader.run.value.value))
    if found.leaders.best_set and leader.is_in_set:
        parts.append("in the best set")
    return " · ".join(parts)


def _form(name: str, typed: Mapping[str, str], failure: Failure | None = None) -> Response:
    found = browse_decision(
        current_registry().database,
        project=requested_project(),
        dataset=name,
        best_sets=kept_best_sets(),
        kept=kept_decisions(),
    )
    challenger = found.challenger
    notices: list[str] = []
    known = [each.run.id for each in found.leaders.runs]
    action = typed.get("action", "")
    asked = None if action in _ROLES else typed.get("run")
    if asked and asked not in known:
        notices.append(f"Run “{asked[:40]}” cannot be approved here.")
        asked = None
    worse = None if asked else worse_than_champion(found)
    chosen = asked or ("" if challenger is None or worse else challenger.run.id)
    html = render_template(
        "datasets/approve.html",
        address=DatasetAddress(found.dataset.project, found.dataset.name),
        frame=dataset_frame(found.dataset, found.size, current="decision"),
        choices=tuple(
            Option(
                each.run.id,
                _choice_text(found, each),
                each.run.id == chosen,
            )
            for each in found.leaders.runs
        ),
        worse=worse,
        held=tuple(each for each in (found.champion, found.candidate) if each is not None),
        holders=[
            (PromotionRole.CHAMPION, found.champion),
            (PromotionRole.CANDIDATE, found.candidate),
        ],
        action=action,
        example=column_text(found.dataset.labels.names[-1]),
        typed=typed,
        notices=notices,
        failure=failure,
    )
    return make_response(html, REFUSED if failure else 200)
