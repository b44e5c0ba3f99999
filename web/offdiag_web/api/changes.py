"""What was changed by whom."""

from __future__ import annotations

from offdiag.domain.access import Role
from offdiag.records.access import AuditQuery, Change, ChangePage
from offdiag.store.audit_log import AuditEvent, AuditFilter, audit_page
from offdiag_web.api.operations import operation, read_token, resource, write_token
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

blueprint = resource("audit")


@operation(blueprint, "GET", "/audit", answers=ChangePage)
@requires(Role.ADMIN)
def list_changes(query: AuditQuery) -> ChangePage:
    """List what was changed by whom, the newest first, in the projects one is an admin of."""
    place = read_token(query.page_token)
    wanted = AuditFilter(query.actor or "", query.project or "", query.text or "")
    before = None if place is None else int(place[0])
    with current_registry().database.read() as session:
        page = audit_page(session, wanted, before=before, limit=query.limit)
    return ChangePage(
        changes=list(map(_change, page.events)),
        next_page_token=None if page.following is None else write_token([page.following]),
    )


def _change(event: AuditEvent) -> Change:
    return Change(
        number=event.id,
        at=event.at,
        actor_kind=event.actor_kind,
        actor=event.actor,
        action=event.action,
        object=event.subject,
        project=event.project,
        request_id=event.request_id,
        detail=dict(event.detail),
    )
