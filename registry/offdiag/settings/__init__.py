"""What can be configured, and where the values come from."""

from offdiag.settings.load import SettingSource, describe_settings, load_settings
from offdiag.settings.model import (
    AccessSettings,
    BackupSettings,
    ClientSettings,
    DatabaseSettings,
    EvaluationSettings,
    FlagsSettings,
    GcSettings,
    JobsSettings,
    NotifySettings,
    OidcSettings,
    ReportsSettings,
    ServerSettings,
    Settings,
    SlicesSettings,
    SmtpSettings,
    WebhookSettings,
)

__all__ = [
    "AccessSettings",
    "BackupSettings",
    "ClientSettings",
    "DatabaseSettings",
    "EvaluationSettings",
    "FlagsSettings",
    "GcSettings",
    "JobsSettings",
    "NotifySettings",
    "OidcSettings",
    "ReportsSettings",
    "ServerSettings",
    "SettingSource",
    "Settings",
    "SlicesSettings",
    "SmtpSettings",
    "WebhookSettings",
    "describe_settings",
    "load_settings",
]
