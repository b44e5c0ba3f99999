"""The stored picture of a sample."""

from __future__ import annotations

from flask import Blueprint, Response, request

from offdiag.services.samples import content
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.components.datasets import DATASET
from offdiag_web.components.samples import picture_response

blueprint = Blueprint("sample_images", __name__)


@blueprint.get(f"{DATASET}/image")
def image(name: str) -> Response:
    found = content.picture(
        current_registry().database,
        project=requested_project(),
        dataset=name,
        sample=request.args.get("sample", ""),
        is_large=request.args.get("size") == "image",
    )
    return picture_response(found, request)
