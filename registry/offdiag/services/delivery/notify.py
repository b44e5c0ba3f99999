"""Delivery to chats and other services through Apprise.

Its URLs hold tokens, so they are settings; a report names the place they are for.
"""

from __future__ import annotations

from offdiag.errors import MissingExtra
from offdiag.extras import optional
from offdiag.services.delivery.message import DeliveryFailed, DeliveryMessage, DeliveryRefused
from offdiag.settings import NotifySettings


def notify(parcel: DeliveryMessage, name: str, settings: NotifySettings) -> None:
    """Send title, headline and address of an issue to one place.

    Raises `DeliveryRefused` as `require_place` does, and `DeliveryFailed` where the service does
    not take the message.
    """
    url = require_place(name, settings)
    from apprise import Apprise, AppriseAsset, NotifyFormat

    service = Apprise(asset=AppriseAsset(app_id="offdiag", app_desc="offdiag"))
    service.add(url)
    body = f"{parcel.headline}\n{parcel.url}"
    if not service.notify(body=body, title=parcel.title, body_format=NotifyFormat.TEXT):
        raise DeliveryFailed(f"{name} did not take the message; the log of the worker says why.")


def require_place(name: str, settings: NotifySettings) -> str:
    """The URL of a place.

    Raises `DeliveryRefused` where no place has that name, where Apprise cannot use its URL, and
    where Apprise is not installed.
    """
    url = _places(settings).get(name)
    if url is None:
        raise DeliveryRefused(f"no place is called {name!r}. Add {name}=URL to notify.targets.")
    try:
        with optional:
            from apprise import Apprise
    except MissingExtra as missing:
        raise DeliveryRefused(str(missing)) from None
    if Apprise.instantiate(url) is None:
        raise DeliveryRefused(f"Apprise cannot read the URL of {name!r} in notify.targets.")
    return url


def _places(settings: NotifySettings) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in settings.targets.split())
    return {name: url for name, _, url in pairs}
