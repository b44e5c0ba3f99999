"""Which machine a host name stands for, and whether it may be talked to.

A name is resolved once, every address it has is checked, and the connection is made to an
address that was checked. Looking it up again when connecting would let the answer change in
between.
"""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from offdiag.services.delivery.outcomes import DeliveryFailed, DeliveryRefused

_TRANSLATED = 0x0064_FF9B << 64
"""The first 96 bits of 64:ff9b::/96, behind which NAT64 keeps IPv4 addresses."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An address that may be connected to."""

    family: socket.AddressFamily
    ip: str
    port: int


def checked_address(host: str, port: int, *, allow_private: bool, timeout_s: float) -> Checked:
    """Resolve a host name and choose an address.

    Raises `DeliveryRefused` if any of its addresses is not public and private ones are not
    allowed, and `DeliveryFailed` if the name has no address or its server does not answer.
    """
    found = _resolved(host, port, timeout_s)
    if not allow_private:
        for address in found:
            if not is_public(address.ip):
                raise DeliveryRefused(
                    f"{host!r} is {address.ip}, which is not a public address. "
                    "Set webhook.allow_private_addresses to post there."
                )
    return found[0]


def is_public(ip: str) -> bool:
    """Whether an address belongs to a machine on the public internet.

    An IPv4 address inside an IPv6 one is judged as what it is.
    """
    address = ip_address(ip.partition("%")[0])
    for inner in _inside(address):
        if not inner.is_global or inner.is_multicast:
            return False
    return address.is_global and not address.is_multicast


def _inside(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    number = int(address)
    if number >> 32 in {_TRANSLATED, 0}:
        # The latter is the long outdated "compatible" form.
        found.append(IPv4Address(number & 0xFFFF_FFFF))
    return [inner for inner in found if inner is not None]


def _resolved(host: str, port: int, timeout_s: float) -> list[Checked]:
    """All addresses of a name. The resolver has no time limit, so it gets a thread to hang in."""
    answer: list[Checked] = []
    failure: list[str] = []

    def resolve() -> None:
        try:
            answer.extend(
                Checked(socket.AddressFamily(family), str(place[0]), port)
                for family, _, _, _, place in socket.getaddrinfo(
                    host, port, type=socket.SOCK_STREAM
                )
            )
        except (OSError, UnicodeError) as error:
            failure.append(str(error))

    thread = threading.Thread(target=resolve, name="resolver", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise DeliveryFailed(f"no name server told within {timeout_s:g} s what {host!r} is.")
    if not answer:
        raise DeliveryFailed(f"{host!r} has no address: {''.join(failure) or 'none found'}.")
    return answer
