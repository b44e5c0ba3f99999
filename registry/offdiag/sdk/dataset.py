"""Datasets: correcting labels, slice columns, groups of classes, and samples to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from offdiag.domain.labels import TruthRevision
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.sample_content import ContentPlaces, LoggedSamples, allowed_hosts
from offdiag.domain.texts import name_segment
from offdiag.inputs.content.given_samples import chunked_samples, given_samples
from offdiag.inputs.ids import aligned
from offdiag.inputs.label_changes import ColumnNames
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.inputs.slice_ranges import Bins
from offdiag.records.datasets.sample import Content, ContentShown
from offdiag.sdk.registry import Registry, RevisionQuestion
from offdiag.sdk.target import current_author, target
from offdiag.settings import load_settings

if TYPE_CHECKING:
    from offdiag.store.database import Database


def revise_truth(
    *,
    dataset: str,
    labels: object,
    reason: str,
    project: str | None = None,
    version: int | None = None,
    id_column: str = "id",
    label_column: str = "label",
    url: str | None = None,
) -> TruthRevision:
    """Give samples of a dataset other labels; every run on them is scored again.

    `labels` is a mapping from sample identifiers to labels, a pair (identifiers, labels) of
    arrays, a frame (pandas, polars, pyarrow), or the path of a CSV, Parquet, Arrow or JSON lines
    file. Columns of a frame or file are found as `id_column` and `label_column`; a frame of
    two columns may call them anything, identifiers first. Where runs were logged without
    identifiers, samples are named by position. None, or an empty cell of a CSV file, takes a
    label away. `reason` is kept with the new version; the
    old one stays. `version` names the lineage to correct where a dataset has several; the
    newest version of it is corrected. Repeating a call changes nothing.

    Raises `InvalidInput` for unknown samples and labels, `NotFound` for an unknown dataset, and
    `Conflict` when the labels are so already.
    """
    at = target(url)
    return at.revise_truth(
        RevisionQuestion(
            project=project if project is not None else at.project,
            dataset=dataset,
            labels=labels,
            reason=reason,
            author=current_author(),
            version=version,
            names=ColumnNames(id_column, label_column),
        )
    )


def add_slices(
    *,
    dataset: str,
    columns: object,
    ids: object | None = None,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
    project: str | None = None,
    version: int | None = None,
    url: str | None = None,
) -> AddedSlices:
    """Give the samples of a dataset slice columns; its runs are evaluated by them.

    `columns` is a mapping from names to arrays, or a frame, with one value for each of `ids`, or
    for each sample in the order they were logged; Series are paired with `ids` by their index.
    Text, whole numbers and booleans are categories. Floats, and columns in `bins`, become
    ranges: `bins={"age": [40, 60]}` cuts at 40 and 60, `bins={"age": 3}` at the terciles;
    quartiles are the default. Dates become months, or what `periods={"taken": "quarter"}` says:
    year, quarter, month, week or day. Lists of text are tags. A column `country/site` with values
    such as "JP/Kyoto" also gives `country`.

    Samples without a value in a column can get one by a later call; repeating a call changes
    nothing. `version` names the samples by a label version where a dataset has several lineages.

    Raises `InvalidInput` for unusable columns and unknown samples, `NotFound` for an unknown
    dataset, and `Conflict` for a sample that has another value, and warns as `LabelNote` of values
    that may not be meant as they were read.
    """
    at = target(url)
    given = aligned(ids=ids, slices=columns)
    added = at.add_slices(
        project if project is not None else at.project,
        dataset,
        GivenSlices(given["slices"], given["ids"], bins, periods),
        version,
    )
    warn_of(added.notes)
    return added


def set_hierarchy(
    *,
    dataset: str,
    hierarchy: Mapping[Any, Any] | None,
    project: str | None = None,
    url: str | None = None,
) -> dict[str, Any] | None:
    """Group the classes of a dataset, in place of how they were grouped; returns the groups.

    `hierarchy` maps names of groups to lists of classes or to further groups, such as
    `{"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}`; None takes
    groups away. Classes may be left out. No result changes: groups are a way to look at a
    matrix, with `run.evaluation(collapse=[...])` and on the pages of runs.

    Raises `InvalidInput` for what is not a hierarchy over the classes, `NotFound` for an unknown
    dataset.
    """
    at = target(url)
    place = project if project is not None else at.project
    found = at.set_hierarchy(place, dataset, hierarchy)
    return None if found is None else found.to_dict()


def log_samples(
    *,
    dataset: str,
    ids: Iterable[object],
    images: object = None,
    text: object = None,
    fields: object = None,
    audio: object = None,
    project: str | None = None,
    url: str | None = None,
) -> LoggedSamples:
    """Store images, texts, table fields or audio links of samples of a dataset.

    `ids` are identifiers as runs were logged with, or positions where they have none. Each of
    the others has one entry for each of them, None where there is nothing: `images` arrays
    (h, w) or (h, w, channels) of whole numbers to 255 or fractions to 1, Pillow images, bytes
    or paths of PNG, JPEG and WebP files; `text` texts; `fields` mappings, or a frame with a
    column for each field; `audio` addresses on hosts that an administrator allows. Images are
    decoded and encoded again, in sizes of at most 160 and 640 pixels, without metadata.

    Content is stored once and shared by all runs and label versions. It is sent in chunks;
    repeating a call that was interrupted stores what is missing and changes nothing else.
    What is None stays as it was. Chunks for a server that cannot be reached wait in the offline
    queue, with a warning, and `n_waiting` counts their samples; `offdiag sync` sends them.

    Raises `NotFound` for an unknown dataset, `InvalidInput` for content that cannot be shown,
    and `TooLarge`.
    """
    at = target(url)
    place = project if project is not None else at.project
    total = LoggedSamples(dataset, 0, 0, 0, 0)
    samples = given_samples(ids, images=images, text=text, fields=fields, audio=audio)
    for chunk in chunked_samples(samples):
        total = total.followed_by(at.log_samples(place, dataset, chunk))
    return total


def show_samples(
    *,
    dataset: str,
    images: str | None = None,
    links: str | None = None,
    hidden: bool = False,
    project: str | None = None,
    url: str | None = None,
) -> None:
    """Say where images of samples lie, in place of what was said before.

    `images` and `links` are addresses with `{sample}` in them, such as
    `https://images.example.org/{sample}.jpg`; the reader's browser loads them, never the
    server. Their hosts are those of the setting `server.content_hosts`. `hidden` content is
    shown only to readers who ask for it.

    Raises `NotFound` for an unknown dataset and `InvalidInput` for other hosts.
    """
    at = target(url)
    place = project if project is not None else at.project
    set_places(at, place, dataset, ContentPlaces(images, links, hidden))


def set_places(registry: Registry, project: str, dataset: str, places: ContentPlaces) -> None:
    """Say where content of a dataset lies. Raises as `show_samples`."""

    def stored(database: Database) -> ContentShown:
        from offdiag.services.samples import content

        hosts = allowed_hosts(load_settings().server.content_hosts)
        return ContentShown.made_of(
            content.set_places(
                database, project=project, dataset=dataset, places=places, hosts=hosts
            )
        )

    path = f"/datasets/{name_segment(dataset)}/content"
    asked = Content.asked(project=project, **asdict(places))
    registry.document("PUT", path, asked, ContentShown, stored)
