"""Editions on their way, without a registry behind them."""

from __future__ import annotations

from typing import Any

from offdiag.services.delivery.message import DeliveryMessage, FolderTarget
from offdiag.store.reports import stored_file


def parcel(**changes: Any) -> DeliveryMessage:
    facts: dict[str, Any] = {
        "delivery_id": 7,
        "server_url": "https://registry.example",
        "target": FolderTarget("weekly"),
        "project": "skin",
        "name": "derm-7 weekly",
        "number": 41,
        "fire_time": "2026-11-16T06:00 Europe/Ljubljana",
        "headline": "No change exceeds its interval.",
        "data_digest": "0123456789abcdef0123456789abcdef",
        "files": (
            stored_file(b"<!DOCTYPE html><p>\xc4\x8d", kind="html", content_type="text/html"),
            stored_file(b"# derm-7 \xc4\x8d\n", kind="markdown", content_type="text/markdown"),
            stored_file(b"{}", kind="json", content_type="application/json"),
            stored_file(b"run,value\r\n", kind="csv", content_type="text/csv"),
        ),
    }
    return DeliveryMessage(**facts | changes)
