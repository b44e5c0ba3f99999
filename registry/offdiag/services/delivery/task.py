"""The task of jobs that deliver an edition.

Sending cannot be undone, so a delivery may arrive twice if a worker dies between sending and
recording it: every attempt has the same key, by which the receiver recognises a repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from offdiag.domain.sentences import visible
from offdiag.errors import NotFound
from offdiag.services.delivery.message import (
    SUFFIXES,
    DeliveryFailed,
    DeliveryMessage,
    DeliveryRefused,
    EmailTarget,
    FolderTarget,
    NotifyTarget,
    Target,
    WebhookTarget,
    read_target,
)
from offdiag.services.delivery.targets import (
    deliver_by_email,
    deliver_to_folder,
    notify,
    place_of,
    require_place,
    require_sender,
    require_writable,
)
from offdiag.services.delivery.webhook import checked_receiver, deliver_by_webhook
from offdiag.services.jobs.attempts import Never
from offdiag.settings import Settings, load_settings
from offdiag.settings.model import public_address
from offdiag.store import deliveries, reports
from offdiag.store.database import Database, Session
from offdiag.store.deliveries import DeliveryState


def compute_delivery(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
    """Send an edition to its target; the returned writer records that it arrived.

    The settings are read now, so that a corrected password needs no restart. Raises `Never` if
    settings, rules or the receiver forbid it, and `DeliveryFailed` if a later attempt may succeed.
    """
    delivery_id = int(args["delivery"])
    settings = load_settings()
    with database.read() as session:
        parcel = _message(session, delivery_id, public_address(settings.server))
    if parcel is None:
        return lambda _session: None
    try:
        _send(parcel, settings)
    except DeliveryRefused as refusal:
        _note(database, delivery_id, DeliveryState.REFUSED, str(refusal))
        raise Never(str(refusal)) from refusal
    except DeliveryFailed as failure:
        _note(database, delivery_id, DeliveryState.PENDING, str(failure))
        if failure.is_final:
            raise Never(str(failure)) from failure
        raise
    return lambda session: deliveries.mark_sent(session, delivery_id, database.clock())


def fail_delivery(session: Session, args: Mapping[str, Any], error: str) -> None:
    """Mark the delivery as failed; one that was refused remains refused."""
    deliveries.mark_failed(session, int(args["delivery"]), error)


def restart_delivery(session: Session, args: Mapping[str, Any]) -> None:
    """Let a delivery that failed be tried again."""
    deliveries.mark_pending(session, int(args["delivery"]))


def _send(parcel: DeliveryMessage, settings: Settings) -> None:
    if len(parcel.files) < len(SUFFIXES):
        raise DeliveryRefused(
            "files of this edition are missing. Restore a backup, or create another edition."
        )
    match parcel.target:
        case FolderTarget(folder=folder):
            deliver_to_folder(parcel, folder, settings.reports)
        case EmailTarget(address=address):
            deliver_by_email(parcel, address, settings.smtp)
        case WebhookTarget(url=url):
            deliver_by_webhook(parcel, url, settings.webhook)
        case NotifyTarget(name=name):
            notify(parcel, name, settings.notify)


def target_problems(targets: Sequence[Target], settings: Settings) -> tuple[str, ...]:
    """What would prevent delivery to each target now, one sentence each; nothing is sent.

    In the end the settings of the worker decide, and a host that cannot be reached now may be
    reachable later.
    """
    return tuple(
        f"{target.text}: {problem}"
        for target in targets
        if (problem := _problem(target, settings)) is not None
    )


def _problem(target: Target, settings: Settings) -> str | None:
    try:
        match target:
            case FolderTarget(folder=folder):
                require_writable(place_of(folder, settings.reports))
            case EmailTarget():
                require_sender(settings.smtp)
            case WebhookTarget(url=url):
                checked_receiver(url, settings.webhook)
            case NotifyTarget(name=name):
                require_place(name, settings.notify)
    except (DeliveryRefused, DeliveryFailed) as error:
        return str(error)
    return None


def _note(database: Database, delivery_id: int, state: DeliveryState, error: str) -> None:
    with database.write() as session:
        # Receivers choose their answers, and PostgreSQL stores no NUL.
        deliveries.note_attempt(session, delivery_id, state=state, error=visible(error))


def _message(session: Session, delivery_id: int, server_url: str) -> DeliveryMessage | None:
    """The message to send, None if it has already been sent."""
    delivery = deliveries.find_delivery(session, delivery_id)
    if delivery is None:
        raise NotFound(f"there is no delivery with the id {delivery_id}.", field="delivery")
    if delivery.state is not DeliveryState.PENDING:
        return None
    edition = reports.find_edition(session, delivery.edition_id)
    if edition is None or edition.headline is None or edition.data_digest is None:
        raise NotFound(f"edition {delivery.edition_id} is not computed.", field="delivery")
    return DeliveryMessage(
        delivery_id=delivery_id,
        server_url=server_url,
        target=read_target(delivery.target),
        project=edition.project,
        name=edition.name,
        number=edition.number,
        fire_time=edition.fire_time,
        headline=edition.headline,
        data_digest=edition.data_digest,
        files=tuple(reports.read_files(session, edition.id, list(SUFFIXES))),
    )
