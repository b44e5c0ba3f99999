"""The content of samples (images, text, fields), and URLs of content stored elsewhere.

Only the reader's browser follows these URLs. Their hosts are on an administrator's list, and only
the identifier of a sample is inserted into them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from offdiag.errors import InvalidInput

PLACEHOLDER = "{sample}"
_LONGEST_ADDRESS = 2_000
SUFFIXES_OF_SCRIPTS = (".svg", ".svgz")

FieldValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class SampleContent:
    """The content of one sample. `image_digest` identifies its image, None if there is none.

    `small_picture` is the thumbnail if it is small enough to be embedded in a page, of the media
    type `image_type`; None in lists that show no pictures.
    """

    sample: str
    text: str | None = None
    fields: Mapping[str, FieldValue] | None = None
    audio: str | None = None
    image_digest: str | None = None
    small_picture: bytes | None = None
    image_type: str | None = None


@dataclass(frozen=True, slots=True)
class ContentPlaces:
    """Where content of a dataset is stored elsewhere, and whether it is shown without asking."""

    image_template: str | None = None
    link_template: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class LoggedSamples:
    """What `log_samples` stored: how many samples were added, changed or unchanged.

    `n_unknown` of them are not samples of the dataset, at least not yet. `n_waiting` more wait in
    the offline queue because the server could not be reached.
    """

    dataset: str
    n_added: int
    n_changed: int
    n_unchanged: int
    n_unknown: int
    n_waiting: int = 0

    def followed_by(self, other: LoggedSamples) -> LoggedSamples:
        """The sum of both."""
        return LoggedSamples(
            self.dataset,
            self.n_added + other.n_added,
            self.n_changed + other.n_changed,
            self.n_unchanged + other.n_unchanged,
            self.n_unknown + other.n_unknown,
            self.n_waiting + other.n_waiting,
        )


def allowed_hosts(setting: str) -> frozenset[str]:
    """The hosts, with their ports if they have any, in a comma-separated setting."""
    hosts = (host.strip().lower() for host in setting.split(","))
    return frozenset(host for host in hosts if host)


def require_address(
    address: str, hosts: Collection[str], *, field: str, is_template: bool = True
) -> str:
    """Return a URL on one of these hosts. Raises `InvalidInput` for any other."""
    given = address.strip()
    try:
        parts = urlsplit(given)
        host = parts.netloc.lower()
    except ValueError:
        raise _unusable(given, "cannot be read", field) from None
    if len(given) > _LONGEST_ADDRESS or not given.isprintable() or " " in given:
        raise _unusable(given[:80], "cannot be read", field)
    if parts.scheme != "https":
        raise _unusable(given, "is not an https address", field)
    if host not in hosts:
        raise InvalidInput(
            f"the host {host!r} is not allowed.",
            field=field,
            hint="An administrator lists it in the setting server.content_hosts first"
            + (f"; allowed are {', '.join(sorted(hosts))}." if hosts else "; none is."),
        )
    if is_template:
        if given.count("{") != given.count(PLACEHOLDER) or PLACEHOLDER not in given:
            raise InvalidInput(
                f"{given!r} does not say where the identifier goes.",
                field=field,
                hint=f"Write {PLACEHOLDER} in its place, and no other braces.",
            )
        if PLACEHOLDER in parts.netloc:
            raise _unusable(given, "lets the sample name the host", field)
        if parts.path.lower().endswith(SUFFIXES_OF_SCRIPTS):
            raise _unusable(given, "names SVG pictures, which can hold scripts", field)
    return given


def _unusable(given: str, why: str, field: str) -> InvalidInput:
    return InvalidInput(
        f"{given!r} {why}.", field=field, hint="Write https://, a host, a path with {sample}."
    )


def filled(template: str, sample: str) -> str:
    """A template with a sample's identifier inserted, escaped so that it changes nothing else."""
    return template.replace(PLACEHOLDER, quote(sample, safe=""))


def is_allowed(address: str, hosts: Collection[str]) -> bool:
    """Whether a URL that was stored earlier is still on one of the hosts."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "https" and parts.netloc.lower() in hosts


@dataclass(frozen=True, slots=True)
class SuspectQuestion:
    """Which suspect labels are wanted: of a class, contradicted by at least this many models.

    Samples for which `person` has already given an answer in the draft are left out.
    """

    class_label: str | None = None
    at_least: int = 1
    start: int = 0
    limit: int | None = 50
    person: str | None = None
