"""What can be configured, and where the values come from."""

from offdiag.settings.load import SettingSource, describe_settings, load_settings
from offdiag.settings.model import (
    BackupSettings,
    DatabaseSettings,
    FlagsSettings,
    GcSettings,
    JobsSettings,
    ReportsSettings,
    ServerSettings,
    Settings,
    SmtpSettings,
    WebhookSettings,
)

__all__ = [
    "BackupSettings",
    "DatabaseSettings",
    "FlagsSettings",
    "GcSettings",
    "JobsSettings",
    "ReportsSettings",
    "ServerSettings",
    "SettingSource",
    "Settings",
    "SmtpSettings",
    "WebhookSettings",
    "describe_settings",
    "load_settings",
]
