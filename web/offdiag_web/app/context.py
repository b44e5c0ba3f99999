"""What a request works with and requires: the registry, caches, the user, permissions.

Variables of addresses that name nothing in a project are listed here. A variable that is neither
listed nor known counts as part of the whole registry, which few callers may access.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from flask import current_app, g, has_request_context

from offdiag.domain.access import Caller, CallerKind, Role, may, may_anywhere
from offdiag.domain.sample_content import allowed_hosts
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import Forbidden
from offdiag.services.lru_cache import LruCache
from offdiag.settings import Settings
from offdiag.store.database import Database, Session
from offdiag.store.project_access import (
    project_of_flag,
    project_of_problem,
    project_of_run,
    projects_with_costs,
    projects_with_dataset,
    projects_with_report,
)
from offdiag_web.app.dispatch import PREFIX

if TYPE_CHECKING:
    from offdiag.audit.table_text.audit import TableTextAudit
    from offdiag.metrics.many_runs.best_runs import BestOfMany
    from offdiag.metrics.many_runs.confidence_set import BestSet
    from offdiag.services.champions.decision import Facts
    from offdiag.services.champions.drops import RunDrop
    from offdiag.services.comparisons.compute import Compared
    from offdiag.services.methods.estimates import KnownMoments
    from offdiag.services.samples.suspects import RankedDataset


COMPARISONS_KEY = "offdiag comparisons"
SUSPECTS_KEY = "offdiag suspects"
MOST_BEST_SETS = 2_048
"""The first page needs those of all datasets in turn; if the cache had fewer entries than there
are datasets, each would be evicted before it was needed again."""


def _kept(key: str, most: int) -> LruCache[Any]:
    """A cache under a key, of the application that is handling the request."""
    return cast("LruCache[Any]", current_app.extensions.setdefault(key, LruCache(most=most)))


def recent_comparisons() -> LruCache[Compared]:
    """Comparisons of runs that were computed before."""
    return _kept(COMPARISONS_KEY, most=64)


def kept_best_sets() -> LruCache[BestSet | None]:
    """Best sets of datasets that were computed before."""
    return _kept("offdiag best sets", most=MOST_BEST_SETS)


def kept_choices() -> LruCache[BestOfMany | None]:
    """Best runs of datasets with their corrected values that were computed before."""
    return _kept("offdiag choices", most=256)


def kept_moments() -> LruCache[KnownMoments]:
    """How the choice of samples affects the methods of datasets, as computed before."""
    return _kept("offdiag moments of methods", most=256)


def kept_drops() -> LruCache[tuple[RunDrop, ...]]:
    """Newest runs of datasets that were found to be worse than an earlier one."""
    return _kept("offdiag drops", most=MOST_BEST_SETS)


def kept_decisions() -> LruCache[Facts]:
    """Comparisons made before for the decisions on datasets."""
    return _kept("offdiag decisions", most=64)


def kept_suspects() -> LruCache[RankedDataset]:
    """Rankings of the labels of datasets that were computed before."""
    return _kept(SUSPECTS_KEY, most=16)


def kept_audits() -> LruCache[TableTextAudit]:
    """Audits of published numbers that were computed before, such as for the JSON of a page."""
    return _kept("offdiag audits", most=64)


@dataclass(frozen=True, slots=True)
class Registry:
    """The registry that an application shows."""

    KEY: ClassVar[str] = "offdiag"

    settings: Settings
    database: Database

    @property
    def content_hosts(self) -> frozenset[str]:
        """Hosts from which content of samples may be shown."""
        return allowed_hosts(self.settings.server.content_hosts)


def current_registry() -> Registry:
    """The registry as the sender of the request may see it."""
    return cast(Registry, g.get("registry") or current_app.extensions[Registry.KEY])


def narrow_registry(database: Database) -> None:
    """Restrict the rest of a request to what `database` shows."""
    g.registry = replace(current_registry(), database=database)


def name_project(name: str) -> None:
    """Set which project the rest of a request changes, if its address does not say so."""
    database = current_registry().database
    if database.actor is not None:
        actor = replace(database.actor, project=name)
        narrow_registry(database.seen_by(database.projects, actor))


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """The user of a request, for templates and pages; `caller` is None if not signed in."""

    caller: Caller | None

    @property
    def may_look(self) -> bool:
        """Whether there is anything they may view."""
        return may_anywhere(self.caller, Role.VIEWER)

    @property
    def is_signed_in(self) -> bool:
        """Whether they signed in or sent a valid token."""
        return self.caller is not None and self.caller.kind is not CallerKind.LOCAL

    @property
    def may_share(self) -> bool:
        """Whether they may create share links."""
        allows_links = current_registry().settings.access.share_link_days > 0
        is_person = self.caller is not None and self.caller.kind is CallerKind.USER
        return allows_links and is_person and may_anywhere(self.caller, Role.EDITOR)

    @property
    def may_label(self) -> bool:
        """Whether there are samples they may propose labels for."""
        return may_anywhere(self.caller, Role.LABELER)

    @property
    def name(self) -> str:
        return "" if self.caller is None else self.caller.name

    @property
    def account(self) -> str:
        """The name without the token, which is the same for all tokens of a user."""
        return "" if self.caller is None else self.caller.account

    @property
    def manages_users(self) -> bool:
        return self.is_signed_in and may(self.caller, Role.ADMIN, None)

    @property
    def reads_audit(self) -> bool:
        return may_anywhere(self.caller, Role.ADMIN)


def signed_in_user() -> CurrentUser:
    """The user of this request; no one before authentication and outside of requests."""
    if not has_request_context():
        return CurrentUser(None)
    return cast(CurrentUser, g.get("current_user") or CurrentUser(None))


def signed_in() -> Caller:
    """The caller who is signed in. Raises `Forbidden` if the registry requires no sign-in."""
    caller = signed_in_user().caller
    if caller is None or caller.user_id is None:
        raise Forbidden(
            "sign-in is not required here.",
            hint="offdiag user and offdiag token do what this page does.",
        )
    return caller


View = TypeVar("View", bound=Callable[..., Any])

_MARK = "__offdiag_needs__"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Rate(StrEnum):
    """Which rate limit a view counts against; the settings define the limits."""

    FREE = "free"
    READ = "read"
    WRITE = "write"
    SIGN_IN = "sign-in"
    API = "api"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a view requires. `role` None admits everyone.

    `everywhere` requires the role in all projects, `in_person` a user who signed in with a browser
    rather than a program with a token.
    """

    role: Role | None
    everywhere: bool = False
    in_person: bool = False
    rate: Rate | None = None


def requires(
    role: Role, *, everywhere: bool = False, in_person: bool = False
) -> Callable[[View], View]:
    """Declare what a view requires instead of the default of its method."""
    return _marked(Requirement(role, everywhere, in_person))


def public(*, rate: Rate = Rate.FREE) -> Callable[[View], View]:
    """Declare that a view is open to everyone."""
    return _marked(Requirement(None, rate=rate))


def requirement_of(view: Callable[..., Any], method: str) -> Requirement:
    declared = _declared(view)
    if declared is not None:
        return declared
    return Requirement(Role.VIEWER if method in SAFE_METHODS else Role.EDITOR)


def rate_of(required: Requirement, method: str, *, is_api: bool) -> Rate:
    """The limit that a request counts against."""
    if required.rate is not None:
        return required.rate
    if is_api:
        return Rate.API
    return Rate.READ if method in SAFE_METHODS else Rate.WRITE


def _marked(required: Requirement) -> Callable[[View], View]:
    def mark(view: View) -> View:
        setattr(view, _MARK, required)
        return view

    return mark


def _declared(view: Callable[..., Any]) -> Requirement | None:
    """The declaration, also found beneath decorators that wrap a view."""
    inner: Callable[..., Any] | None = view
    while inner is not None:
        found = getattr(inner, _MARK, None)
        if isinstance(found, Requirement):
            return found
        inner = getattr(inner, "__wrapped__", None)
    return None


Find = Callable[[Session, Any], frozenset[str]]


@dataclass(frozen=True, slots=True)
class ResourceProjects:
    """Which projects the resource of a request may be in.

    `projects` is None for a list or form that shows whatever its reader may view. `is_registry`
    says that the request is about the registry as a whole.
    """

    projects: frozenset[str] | None = None
    is_registry: bool = False

    @property
    def project(self) -> str | None:
        """The project, if there is only one it can be in."""
        return next(iter(self.projects)) if self.projects and len(self.projects) == 1 else None


_BY_NUMBER: Mapping[tuple[str, str], Find] = {
    ("runs", "run_id"): project_of_run,
    ("flags", "number"): project_of_flag,
    ("problems", "number"): project_of_problem,
}
_BY_NAME: Mapping[str, Find] = {
    "datasets": projects_with_dataset,
    "costs": projects_with_costs,
    "cost-matrices": projects_with_costs,
    "reports": projects_with_report,
    "schedules": projects_with_report,
}
# Datasets are found by name alone, in whichever project has one of that name; when a schedule is
# changed, the body names its project.
_IN_ANY_PROJECT = frozenset({"datasets", "schedules"})
_NO_THINGS: Mapping[str, frozenset[str]] = {
    "assets": frozenset({"digest", "name"}),
    "glossary": frozenset({"key"}),
    "metrics": frozenset({"key"}),
    "models": frozenset({"name"}),
    "v": frozenset({"slug"}),
    "s": frozenset({"secret"}),
    "settings": frozenset({"token_id", "link_id", "user"}),
    "tokens": frozenset({"token_id"}),
    "users": frozenset({"name"}),
}
_PARTS = frozenset(
    {"form", "action", "actual", "predicted", "before", "after", "file", "delivery_id", "seq"}
)
"""Variables of addresses that only refine what another one names."""


def resource_projects(
    database: Database, *, rule: str, parts: Mapping[str, Any], project: str | None
) -> ResourceProjects:
    """Which projects a request is about; `project` is the one that its query names."""
    section = section_of(rule)
    for name, value in parts.items():
        find = finder(section, name)
        if find is not None:
            with database.read() as session:
                found = find(session, value)
            return ResourceProjects(_wanted(found, section, project))
    if any(not is_known_part(section, name) for name in parts):
        return ResourceProjects(is_registry=True)
    return ResourceProjects(None if project is None else frozenset({project}))


def finder(section: str, part: str) -> Find | None:
    """The function that finds the projects of what a variable of an address names."""
    if part == "name":
        return _BY_NAME.get(section)
    return _BY_NUMBER.get((section, part))


def is_known_part(section: str, part: str) -> bool:
    """Whether a variable of an address is known to name nothing that belongs to a project."""
    known = section in _BY_NAME or any(section == each for each, _ in _BY_NUMBER)
    if known and (part in _PARTS or part == "number"):
        return True
    return part in _NO_THINGS.get(section, frozenset()) or part == "form"


def section_of(rule: str) -> str:
    """The first segment of an address, or the first one after the prefix for an API address."""
    path = rule.removeprefix(PREFIX)
    return path.split("/")[1].partition(".")[0] if "/" in path else ""


def _wanted(found: frozenset[str], section: str, project: str | None) -> frozenset[str]:
    if project is None and section in _IN_ANY_PROJECT:
        return found
    return found & {project or DEFAULT_PROJECT} if section in _BY_NAME else found
