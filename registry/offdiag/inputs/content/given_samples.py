"""Reading the content of samples as users give it: ids with images, text, fields, audio links."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offdiag.domain.column_names import columns_of
from offdiag.domain.sample_content import FieldValue
from offdiag.errors import InvalidInput, TooLarge
from offdiag.inputs.columns import is_missing, refuse_unordered
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.ids import MAX_ID_LENGTH, aligned

MOST_TEXT = 20_000
MOST_FIELDS = 100
MOST_FIELD_TEXT = 1_000
MOST_AT_ONCE = 500
"""Number of samples in one chunk; see also `MOST_BYTES_AT_ONCE`."""
MOST_BYTES_AT_ONCE = 12 << 20
_ONE_FOR_EACH = "Give one entry for each identifier, None where there is nothing."


@dataclass(frozen=True, slots=True)
class GivenSample:
    """One sample; what is None stays unchanged. `image` holds the bytes of an image file."""

    sample: str
    image: bytes | None = None
    text: str | None = None
    fields: Mapping[str, FieldValue] | None = None
    audio: str | None = None

    @property
    def n_bytes(self) -> int:
        """About how many bytes it takes in a request."""
        fields = sum(len(name) + len(str(value)) for name, value in (self.fields or {}).items())
        return len(self.image or b"") + 4 * (len(self.text or "") + fields) + len(self.sample)


def given_samples(
    ids: Iterable[object],
    *,
    images: object = None,
    text: object = None,
    fields: object = None,
    audio: object = None,
) -> Iterator[GivenSample]:
    """The samples one by one; images are only read from files when it is their turn.

    Each other argument has one entry per id, None for no content. `fields` is a sequence of
    mappings, a mapping of columns or a frame. Series are matched by their index (`aligned`).
    Raises `InvalidInput` for columns of other lengths and for content that cannot be shown.
    """
    given = aligned(ids=ids, images=images, text=text, fields=fields, audio=audio)
    names = sample_names(_listed(given["ids"], "ids"))
    columns = {**given, "fields": _rows(given["fields"])}
    columns.pop("ids")
    present = {name: _column(name, each, len(names)) for name, each in columns.items()}
    if all(each is None for each in present.values()):
        raise InvalidInput(
            "there is nothing to store.",
            field="images",
            hint="Give images=, text=, fields= or audio=.",
        )
    return (
        GivenSample(
            name,
            image=None if (image := _at(present["images"], at)) is None else image_file(image),
            text=_text(_at(present["text"], at), "text", MOST_TEXT),
            fields=_fields(_at(present["fields"], at)),
            audio=_text(_at(present["audio"], at), "audio", MOST_FIELD_TEXT),
        )
        for at, name in enumerate(names)
    )


def sample_names(identifiers: Iterable[object]) -> list[str]:
    """The names of samples, as on pages. Raises the same as `sample_name`, and for duplicates."""
    names = [sample_name(each) for each in identifiers]
    if len(set(names)) < len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise InvalidInput(
            f"sample {twice!r} occurs twice.", field="ids", hint="Give each sample once."
        )
    return names


def sample_name(identifier: object) -> str:
    """The name of a sample, as on pages. Raises `InvalidInput` for an unusable id."""
    if isinstance(identifier, float) and identifier.is_integer():
        identifier = int(identifier)
    plain = getattr(identifier, "item", lambda: identifier)()
    if plain is None or isinstance(plain, (float, bool)):
        raise InvalidInput(
            f"{identifier!r} is not an identifier.", field="ids", hint="Use whole numbers or text."
        )
    name = str(plain)
    if not 1 <= len(name) <= MAX_ID_LENGTH or "\0" in name:
        raise InvalidInput(
            f"the identifier {name[:40]!r} cannot be used.",
            field="ids",
            hint=f"Use 1 to {MAX_ID_LENGTH} characters.",
        )
    return name


def chunked_samples(samples: Iterable[GivenSample]) -> Iterator[list[GivenSample]]:
    """The samples in chunks of bounded count and size."""
    chunk: list[GivenSample] = []
    size = 0
    for sample in samples:
        if chunk and (len(chunk) >= MOST_AT_ONCE or size + sample.n_bytes > MOST_BYTES_AT_ONCE):
            yield chunk
            chunk, size = [], 0
        chunk.append(sample)
        size += sample.n_bytes
    if chunk:
        yield chunk


def _listed(values: Any, name: str) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise InvalidInput("it is one text.", field=name, hint=_ONE_FOR_EACH)
    refuse_unordered(values, field=name)
    plain = getattr(values, "to_pylist", getattr(values, "tolist", None))
    return list(values if plain is None else plain())


def _column(name: str, values: Any, n: int) -> Sequence[Any] | None:
    if values is None:
        return None
    if isinstance(values, (str, bytes, Mapping)):
        raise InvalidInput(f"there is one value for {n} samples.", field=name, hint=_ONE_FOR_EACH)
    # Indexing a Series goes by its index, but positions are meant here; an array stays as it is,
    # because its entries may be images.
    is_sequence = isinstance(values, (list, tuple, np.ndarray))
    column: Sequence[Any] = values if is_sequence else _listed(values, name)
    if len(column) != n:
        raise InvalidInput(
            f"there are {len(column)} entries for {n} samples.", field=name, hint=_ONE_FOR_EACH
        )
    return column


def _rows(fields: Any) -> Any:
    """Fields by sample, from a sequence of mappings or from columns."""
    if fields is None or not (isinstance(fields, Mapping) or hasattr(fields, "columns")):
        return fields
    keys = list(fields if isinstance(fields, Mapping) else columns_of(fields))
    columns = [_listed(fields[key], f"fields[{key!r}]") for key in keys]
    if len({len(column) for column in columns}) > 1:
        raise InvalidInput(
            "the columns have different lengths.", field="fields", hint="Give one table."
        )
    names = [str(key) for key in keys]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _at(column: Sequence[Any] | None, at: int) -> Any:
    return None if column is None else column[at]


def _text(given: Any, field: str, longest: int) -> str | None:
    if is_missing(given):
        return None
    if not isinstance(given, str):
        raise InvalidInput(
            f"{type(given).__name__} is not text.", field=field, hint="Give texts, or None."
        )
    if len(given) > longest:
        raise TooLarge(
            f"a text has {len(given):,} characters.",
            field=field,
            hint=f"Store at most {longest:,}; link to the rest.",
        )
    if "\0" in given:
        raise InvalidInput("a text has a NUL character.", field=field, hint="Remove it.")
    return given


def _fields(given: Any) -> dict[str, FieldValue] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"{type(given).__name__} has no named fields.",
            field="fields",
            hint="Give one mapping of names to values for each sample.",
        )
    if len(given) > MOST_FIELDS:
        raise TooLarge(
            f"a sample has {len(given)} fields.",
            field="fields",
            hint=f"Store at most {MOST_FIELDS}.",
        )
    return {_field_name(name): _value(name, value) for name, value in given.items()}


def _field_name(name: object) -> str:
    return _text(str(name), "fields", 200) or "unnamed"


def _value(name: object, given: Any) -> FieldValue:
    value = given.tolist() if hasattr(given, "tolist") else given
    if is_missing(value):
        return None
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _text(
        value if isinstance(value, str) else str(value), f"fields.{name}", MOST_FIELD_TEXT
    )
