"""Shows one shared page to anyone with its link, and nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

from flask import Blueprint, Response, current_app, make_response
from markupsafe import escape

from offdiag.errors import Forbidden, InvalidInput, NotFound, OffdiagError
from offdiag.services.access.share_links import OpenedLink, may_share, open_share_link
from offdiag_web.app.context import Rate, Registry, public
from offdiag_web.app.dispatch import SHARED
from offdiag_web.app.errors import domain_response
from offdiag_web.pages.access.shareable import projects_of_page, read_page, rendered

_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
_WITH_CONTENT = frozenset(
    {
        *(
            "button",
            "dialog",
            "footer",
            "form",
            "iframe",
            "label",
            "nav",
            "noscript",
            "object",
            "script",
        ),
        *("select", "textarea", "template"),
    }
)
"""Elements that are left out with their content."""
_ALONE = frozenset({"base", "embed", "input", "source"})
_LEFT_OUT = frozenset(
    {"actions", "button", "menu", "neighbours", "run-tabs", "seg", "skip", "tabs"}
)
"""Classes of elements that only lead elsewhere."""
_ADDRESSES = frozenset({"href", "src", "srcset", "xlink:href", "action", "formaction", "ping"})
_PREFIXES = ("on", "hx-", "data-")
_ASSETS = "/assets/"
_ATTRIBUTES = frozenset({"aria-keyshortcuts", "popover", "popovertarget"})


def read_only(page: str, *, notice: str) -> str:
    """The page with `notice` as the first line of its content, hidden from search engines."""
    reader = _Reader(notice)
    reader.feed(page)
    reader.close()
    return "".join(reader.parts)


class _Reader(HTMLParser):
    def __init__(self, notice: str) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._notice = notice
        self._open: list[str] = []
        """The names of the end tags of all open elements."""
        self._left_out_at: int | None = None
        """The number of elements that were open where an element began that is left out."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_startendtag(tag, attrs)
            return
        if self._left_out_at is None and _is_left_out(tag, dict(attrs)):
            self._left_out_at = len(self._open)
        written = tag
        if tag == "a":
            is_here = (dict(attrs).get("href") or "").startswith("#")
            written = "a" if is_here else "g" if "svg" in self._open else "span"
        self._write(f"<{written}{_kept(tag, attrs)}>")
        self._open.append(written)
        if tag == "head":
            self._write('<meta name="robots" content="noindex">')
        if tag == "main":
            self._write(f'<p class="callout" role="note">{escape(self._notice)}</p>')

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_asset = _is_asset(dict(attrs).get("href") or dict(attrs).get("src") or "")
        if tag in _ALONE or (tag in {"link", "img"} and not is_asset):
            return
        end = "" if tag in _VOID else f"</{tag}>"
        self._write(f"<{tag}{_kept(tag, attrs)}>{end}")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or not self._open:
            return
        self._write(f"</{self._open.pop()}>")
        if self._left_out_at == len(self._open):
            self._left_out_at = None

    def handle_data(self, data: str) -> None:
        self._write(data)

    def handle_entityref(self, name: str) -> None:
        self._write(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._write(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._write(f"<!{decl}>")

    def _write(self, text: str) -> None:
        if self._left_out_at is None:
            self.parts.append(text)


def _is_left_out(tag: str, attributes: dict[str, str | None]) -> bool:
    classes = (attributes.get("class") or "").split()
    return (
        tag in _WITH_CONTENT or "data-unshared" in attributes or not _LEFT_OUT.isdisjoint(classes)
    )


def _kept(tag: str, attributes: list[tuple[str, str | None]]) -> str:
    return "".join(
        f" {name}" if value is None else f' {name}="{escape(value)}"'
        for name, value in attributes
        if _is_kept(tag, name, value or "")
    )


def _is_kept(tag: str, name: str, value: str) -> bool:
    if name in _ADDRESSES:
        return value.startswith("#") or (tag in {"link", "img"} and _is_asset(value))
    return name not in _ATTRIBUTES and not name.startswith(_PREFIXES)


def _is_asset(address: str) -> bool:
    return address.startswith((_ASSETS, "data:image/"))


blueprint = Blueprint("shared", __name__)

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@blueprint.get(f"{SHARED}<secret>")
@public(rate=Rate.READ)
def page(secret: str) -> Response:
    try:
        response = _shown(secret)
    except (Forbidden, InvalidInput, NotFound):
        response = domain_response(_nothing())
    except OffdiagError as error:
        response = domain_response(error)
    response.headers.update(_HEADERS)
    return response


def _shown(secret: str) -> Response:
    # The owner's permissions decide what the link shows, not the visitor's.
    registry: Registry = current_app.extensions[Registry.KEY]
    most_days = registry.settings.access.share_link_days
    opened = open_share_link(registry.database, secret, most_days=most_days)
    if opened is None:
        raise _nothing()
    shared = read_page(opened.link.address)
    with registry.database.read() as session:
        projects = projects_of_page(session, shared)
    if not may_share(opened.owner, projects):
        raise _nothing()
    text = rendered(shared, registry, projects)
    return make_response(read_only(text, notice=_notice(opened)))


def _notice(opened: OpenedLink) -> str:
    return (
        f"Read-only page, shared by {opened.link.owner} until "
        f"{opened.link.expires_at:%Y-%m-%d %H:%M} UTC."
    )


def _nothing() -> NotFound:
    """The same error for links that never existed, expired, were revoked, or lead nowhere."""
    return NotFound(
        "this link shows nothing.",
        hint="It may have expired or been revoked; ask the sender for another one.",
    )
