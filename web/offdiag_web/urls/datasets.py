"""Addresses of datasets, their label versions and the impact of those, and of models."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.texts import name_segment
from offdiag_web.urls.query_string import named_project, with_query


@dataclass(frozen=True, slots=True)
class DatasetAddress:
    """A dataset by project and name; the default project is left out."""

    project: str
    name: str

    def url(self, form: str = "", *, start: int = 0) -> str:
        """The page, or its export where `form` is "json" or "csv"; `start` counts from 0."""
        return self._at("", form, start)

    def decision_url(self, *, x: str | None = None, by_cost: bool = False) -> str:
        """The page with another metric on the x-axis, or with costs instead of the worst class."""
        return self._at("", "", 0, x=x, y="cost" if by_cost else None)

    def approve_url(self, run_id: str | None = None) -> str:
        """Where a run, the candidate by default, is approved or proposed."""
        return self._at("/approve", "", 0, run=run_id)

    def comments_url(self) -> str:
        return self._at("/comments", "", 0)

    def data_url(self, *, start: int = 0) -> str:
        """Its classes, label versions and slices; `start` counts classes from 0."""
        return self._at("/data", "", start)

    def content_url(self) -> str:
        """How its samples are displayed, and where their content is found."""
        return self._at("/content", "", 0)

    def methods_url(self, form: str = "", *, metric: str | None = None) -> str:
        """Its methods, which group runs that differ by seed or fold, by a metric."""
        return self._at("/methods", form, 0, metric=metric)

    def learning_curves_url(self, *, metric: str) -> str:
        """The values of its methods over training sizes, as CSV."""
        return self._at("/methods/learning-curves", "csv", 0, metric=metric)

    def suspects_url(
        self,
        form: str = "",
        *,
        class_label: str = "",
        at_least: int = 1,
        start: int = 0,
        content: str | None = None,
    ) -> str:
        """Labels that models contradict; `start` counts them from 0."""
        return self._at(
            "/suspects",
            form,
            start,
            **{"class": class_label or None},
            against=str(at_least) if at_least > 1 else None,
            content=content,
        )

    def draft_url(self, part: str = "", *, start: int = 0) -> str:
        """The draft of labels that people propose, or the target of a form in one `part` of it."""
        return self._at(f"/draft{part}", "", start)

    def noise_url(self, form: str = "", *, share: str | None = None) -> str:
        """How much wrong labels matter, up to a percentage of wrong labels."""
        return self._at("/noise", form, 0, share=share)

    def undo_url(self, number: int) -> str:
        """Where a version is undone."""
        return self._at(f"/truth/{number}/undo", "", 0)

    def image_url(self, sample: str, digest: str, *, is_large: bool = False) -> str:
        """The stored image of a sample; another digest gives another address."""
        size = "image" if is_large else None
        return self._at("/image", "", 0, sample=sample, size=size, v=digest[:16])

    def difference_url(self, before: int, after: int, form: str = "", *, start: int = 0) -> str:
        """What differs between two versions; `start` counts changed samples from 0."""
        return self._at(f"/truth/{before}..{after}", form, start)

    def impact_url(
        self, number: int, form: str = "", *, metric: str | None = None, start: int = 0
    ) -> str:
        """What a version did to runs; `start` counts runs from 0."""
        return self._at(f"/truth/{number}/impact", form, start, metric=metric)

    def _at(self, place: str, form: str, start: int, **values: str | None) -> str:
        first = str(start + 1) if start and not form else None
        return with_query(
            f"/datasets/{name_segment(self.name)}{place}{f'.{form}' if form else ''}",
            {"project": named_project(self.project), "from": first, **values},
        )


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model by the name that runs were logged with."""

    name: str

    def url(self, form: str = "") -> str:
        """The page, or its export where `form` is "json" or "csv"."""
        return f"/models/{name_segment(self.name)}{f'.{form}' if form else ''}"
