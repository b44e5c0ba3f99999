"""Datasets: correcting labels, slice columns, groups of classes, and the content of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from offdiag.domain.labels import TruthRevision
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.sample_content import ContentPlaces, LoggedSamples, allowed_hosts
from offdiag.domain.texts import name_segment
from offdiag.inputs.content.given_samples import chunked_samples, given_samples
from offdiag.inputs.ids import aligned, require_stored_order
from offdiag.inputs.label_changes import ColumnNames
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.inputs.slice_ranges import Bins
from offdiag.records.base import Request
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
    """Correct labels of a dataset in a new label version; all runs on them are evaluated again.

    Returns a `TruthRevision`. Repeating a call changes nothing.

    * `dataset`: the name of the dataset.
    * `labels`: a mapping from sample identifiers to labels, a pair (identifiers, labels) of
      arrays, a frame (pandas, polars, pyarrow), or the path of a CSV, Parquet, Arrow or JSON lines
      file. If runs were logged without identifiers, use positions. None, or an empty cell of a CSV
      file, removes a label, and of a multi-label sample the whole set; its empty set is `[]`.
    * `reason`: why, in words. It is stored with the new version; the old version stays.
    * `project`: the project of the dataset. Default: the configured one.
    * `version`: a version of the label history to correct, if a dataset has several histories. The
      newest version of that history is corrected.
    * `id_column`, `label_column`: the columns of a frame or file. Default: "id" and "label". A
      frame of two columns may have any names, identifiers first.
    * `url`: the registry. Default: the configured one.

    Raises `InvalidInput` for unknown samples and labels, `NotFound` for an unknown dataset, and
    `Conflict` if all samples already have these labels.
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
    """Add slice columns to the samples of a dataset; its runs are evaluated by them.

    Returns an `AddedSlices`. Repeating a call changes nothing. Samples without a value in a column
    can get one in a later call.

    * `dataset`: the name of the dataset.
    * `columns`: a mapping from names to arrays, or a frame. Text, whole numbers and booleans are
      categories, floats become ranges, dates become periods, and lists of text are tags. A column
      `country/site` with values such as "JP/Kyoto" also gives `country`.
    * `ids`: the sample identifiers of the values; Series are paired with them by index. Default:
      one value for each sample, in the order in which they were logged, if that was without any.
    * `bins`: the ranges of a column: `{"age": [40, 60]}` cuts at 40 and 60, `{"age": 3}` at the
      terciles. Default for floats: quartiles.
    * `periods`: the periods of a column, such as `{"taken": "quarter"}`: year, quarter, month,
      week or day. Default for dates: months.
    * `project`: the project of the dataset. Default: the configured one.
    * `version`: a label version that identifies the samples, if a dataset has several histories.
    * `url`: the registry. Default: the configured one.

    Raises `InvalidInput` for unusable columns and unknown samples, `NotFound` for an unknown
    dataset, and `Conflict` for a sample that has another value. Warns with `LabelNote` about
    values that may have been read differently than meant.
    """
    at = target(url)
    given = aligned(ids=ids, slices=columns)
    if ids is None:
        require_stored_order(columns=columns)
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
    """Group the classes of a dataset, replacing earlier groups, and return the groups.

    * `dataset`: the name of the dataset.
    * `hierarchy`: a mapping from names of groups to lists of classes or to further groups, such as
      `{"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}`. Not every class
      needs a group. None removes all groups.
    * `project`, `url`: the project and the registry. Default: the configured ones.

    Stored results do not change: groups are a way to look at a matrix, with
    `run.evaluation(collapse=[...])` and on the pages of runs.

    Raises `InvalidInput` for what is not a hierarchy of the classes, and `NotFound` for an unknown
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
    """Store images, texts, table fields or audio links of the samples of a dataset.

    Returns a `LoggedSamples` with the numbers of samples. Content is stored once and shared by all
    runs and label versions.

    * `dataset`: the name of the dataset.
    * `ids`: the sample identifiers that runs were logged with, or positions if they have none.

    Each of the following has one entry for each id, None to leave it as it was:

    * `images`: arrays (h, w) or (h, w, channels) of whole numbers to 255 or fractions to 1, Pillow
      images, or bytes or paths of PNG, JPEG and WebP files. They are decoded and encoded again
      without metadata, in sizes of at most 160 and 640 pixels.
    * `text`: texts.
    * `fields`: mappings, or a frame with a column for each field.
    * `audio`: addresses on hosts that an administrator allows.

    `project` and `url` default to the configured ones. Content is sent in chunks; repeating a call
    that was interrupted stores what is missing and changes nothing else. If a server cannot be
    reached, chunks wait in the offline queue, with a warning, and `n_waiting` counts their
    samples; `offdiag sync` sends them.

    Raises `NotFound` for an unknown dataset, `InvalidInput` for content that cannot be shown, and
    `TooLarge`.
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
    """Set where images of samples are stored elsewhere, replacing an earlier setting.

    * `dataset`: the name of the dataset.
    * `images`, `links`: addresses with `{sample}` in them, such as
      `https://images.example.org/{sample}.jpg`. The reader's browser loads them, never the server.
      Their hosts must be in the setting `server.content_hosts`.
    * `hidden`: show content only to readers who ask for it. Default: False.
    * `project`, `url`: the project and the registry. Default: the configured ones.

    Raises `NotFound` for an unknown dataset and `InvalidInput` for other hosts.
    """
    at = target(url)
    place = project if project is not None else at.project
    set_places(at, place, dataset, ContentPlaces(images, links, hidden))


def set_places(registry: Registry, project: str, dataset: str, places: ContentPlaces) -> None:
    """Set where content of a dataset is stored. Raises the errors of `show_samples`."""

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
    registry.ask(Request(path, ContentShown, stored, asked, "PUT"))
