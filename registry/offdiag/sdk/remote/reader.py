"""Reading from a server, with the objects that an embedded registry returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import FoundRun, FoundRuns
from offdiag.domain.texts import name_segment
from offdiag.errors import InvalidInput, NotFound
from offdiag.records.base import MOST_ON_A_PAGE, RequestBody, ResponseBody
from offdiag.records.runs.run import Labels, RunPage, found_run
from offdiag.sdk.registry import SearchQuestion
from offdiag.sdk.remote.connection import Connection, with_retries

Document = TypeVar("Document", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Reader:
    """Sends requests to a server, and retries for as long as configured."""

    connection: Connection
    retry_for_s: float

    def get(self, path: str, answer: type[Document], **params: Any) -> Document:
        """The response to a GET request; parameters that are None are left out."""
        asked = {name: value for name, value in params.items() if value is not None}
        body = with_retries(
            lambda: self.connection.ask("GET", path, params=asked), retry_for_s=self.retry_for_s
        )
        return answer.model_validate_json(body)

    def send(self, method: str, path: str, asked: RequestBody) -> bytes:
        """The response to a request that can be sent twice without acting twice."""
        try:
            body = asked.model_dump_json()
        except PydanticSerializationError as error:
            raise InvalidInput(
                "a text has half of a surrogate pair.",
                hint="It is not Unicode text; read it in the encoding it was written in.",
            ) from error
        return with_retries(
            lambda: self.connection.send(method, path, body), retry_for_s=self.retry_for_s
        )


@dataclass(frozen=True, slots=True)
class KnownClasses:
    """The classes of a dataset and what is declared about them."""

    name: str
    labels: LabelSet
    labels_inferred: bool
    positive_label: str | None


class _Dataset(ResponseBody):
    labels: Labels
    positive_label: str | None


def dataset_classes(reader: Reader, name: str, project: str) -> KnownClasses | None:
    """The classes of a dataset; None if it does not exist."""
    try:
        found = reader.get(f"/datasets/{name_segment(name)}", _Dataset, project=project)
    except NotFound:
        return None
    labels = found.labels.label_set()
    return KnownClasses(name, labels, labels.inferred, found.positive_label)


def search(reader: Reader, question: SearchQuestion) -> FoundRuns:
    """The runs that match a filter, page by page."""
    found: list[FoundRun] = []
    token: str | None = None
    while True:
        page = reader.get(
            "/runs",
            RunPage,
            filter=question.filter_text or None,
            order_by=list(question.order_by) or None,
            project=question.project,
            limit=min(question.limit - len(found), MOST_ON_A_PAGE),
            page_token=token,
        )
        found += map(found_run, page.runs)
        token = page.next_page_token
        if token is None or len(found) >= question.limit:
            return FoundRuns(found, page.n_without_slices)
