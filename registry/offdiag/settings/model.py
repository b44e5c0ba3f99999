"""The settings that exist, their defaults and bounds, and whether they expose a server.

`Settings()` are the defaults and nothing else: reading files and the environment is the
business of `offdiag.settings.load`. Unknown keys are refused, because a misspelt setting that
is silently ignored looks exactly like one that works.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SECRETS = frozenset(
    {
        "client.token",
        "notify.targets",
        "oidc.client_secret",
        "server.secret_key",
        "smtp.password",
        "webhook.secret",
    }
)
"""Settings whose values are shown nowhere."""

LOCAL_ENGINE = "local"
"""The engine of `jobs.engine` that needs nothing beside the database."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
RateLimit = Annotated[
    str, Field(pattern=r"^[1-9][0-9]* per ([1-9][0-9]* )?(second|minute|hour|day)s?$")
]
Correlation = Annotated[float, Field(ge=-1, le=1)]


class Section(BaseModel):
    """A group of settings: unchangeable, without unknown keys, without NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DatabaseSettings(Section):
    """Where the registry is kept."""

    url: Annotated[str, Field(min_length=1)] = "sqlite:///offdiag.db"
    """SQLAlchemy URL; a relative SQLite path starts at the working directory."""


class ClientSettings(Section):
    """How a job logs to a server."""

    mode: Literal["online", "offline", "disabled"] = "online"
    """Send at once, keep in the spool for `offdiag sync`, or do nothing at all."""
    on_error: Literal["raise", "warn"] = "raise"
    """What becomes of a refusal that trying again cannot mend; what was not stored is spooled."""
    token: Annotated[str, Field(repr=False)] = ""
    """API token of the server. Empty: none is sent."""
    spool: Annotated[str, Field(min_length=1)] = "offdiag-spool"
    """Folder of runs that wait to be sent; a relative one starts at the working directory."""
    retry_for_s: Annotated[float, Field(ge=0, le=86_400)] = 60.0
    """Seconds for which finishing a run retries while the server does not respond."""


class ServerSettings(Section):
    """Where the dashboard listens."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8642
    """0 takes any free port."""
    threads: Annotated[int, Field(ge=1, le=256)] = 4
    """Requests answered at the same time. Three times as many wait, others are sent away."""
    shutdown_delay_s: Annotated[float, Field(ge=0, le=300)] = 1.0
    """Seconds that /readyz says no before a server that was told to stop takes nothing more."""
    secret_key: Annotated[str, Field(repr=False)] = ""
    """Key that signs forms. Empty: the one in `secret_key_file`."""
    secret_key_file: str = ""
    """File of that key, made if it is not there. Empty: beside an embedded database."""
    public_url: Annotated[str, Field(pattern=r"^(https?://[^\s?#]+)?$")] = ""
    """Where people reach this server, for links in messages. Empty: host and port."""
    trusted_hosts: str = ""
    """Further names that the server answers to, separated by commas."""
    trusted_proxies: Annotated[int, Field(ge=0, le=10)] = 0
    """How many proxies stand before it, whose word on address, name and TLS is taken."""
    content_hosts: str = ""
    """Hosts that readers' browsers may load images and sound of samples from, separated by
    commas. Empty: none."""
    content_limit_mb: Annotated[int, Field(ge=0)] = 0
    """Megabytes of pictures, texts and fields that the samples of a project may take. 0: any."""

    @property
    def most_content_bytes(self) -> int | None:
        """That limit in bytes, None for none."""
        return self.content_limit_mb * 10**6 or None


class AccessSettings(Section):
    """Who has to sign in, for how long, and how often they may ask."""

    auth: Literal["auto", "required"] = "auto"
    """Whether to sign in: wherever others can reach the server, or always."""
    session_idle_hours: Annotated[float, Field(gt=0, le=8_760)] = 12.0
    session_days: Annotated[float, Field(gt=0, le=365)] = 14.0
    """Days after which one has to sign in again, however busy one was."""
    share_link_days: Annotated[int, Field(ge=0, le=365)] = 0
    """Days that a read-only link to one page may last at most. 0: there are none."""
    sign_in_limit: RateLimit = "10 per 10 minutes"
    """Failed attempts from one address."""
    sign_in_limit_by_name: RateLimit = "200 per hour"
    """Failed attempts for one name, from all addresses together."""
    read_limit: RateLimit = "600 per minute"
    write_limit: RateLimit = "120 per minute"
    api_limit: RateLimit = "1200 per minute"
    rate_storage: Annotated[str, Field(min_length=1)] = "memory://"
    """Where the counters live; processes that share them need a Redis or the like."""


class OidcSettings(Section):
    """The provider that signs people in who sign in (OpenID Connect)."""

    issuer: str = ""
    """Its address. Empty: users sign in with a password."""
    client_id: str = ""
    client_secret: Annotated[str, Field(repr=False)] = ""
    client_secret_file: str = ""
    """File of that secret, if it is not a setting."""
    scope: str = "openid profile email"
    name_claim: Annotated[str, Field(min_length=1)] = "preferred_username"
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    roles: str = ""
    """`group=role` or `group=role@project`, separated by commas; a group may stand several times.
    Empty: admins give roles."""


class JobsSettings(Section):
    """How evaluations are worked off."""

    engine: Annotated[str, Field(min_length=1, max_length=200)] = LOCAL_ENGINE
    """Who tells workers about new work: "local" needs nothing beside the database,
    "procrastinate" an extra, others a distribution or "package.module:object"."""
    lease_s: Annotated[float, Field(ge=1, le=86_400)] = 30.0
    """Seconds after which the work of a worker that gave no sign of life is given to another."""
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 5
    """Starts of one piece of work before it is put aside as dead, with its last error."""
    poll_ms: Annotated[int, Field(ge=1, le=60_000)] = 50
    """Milliseconds between two looks at the work table while nothing is to do."""
    concurrency: Annotated[int, Field(ge=1, le=64)] = 2
    """Pieces of work that one worker does at the same time; the last one takes small work only,
    and only while the others have been busy for a second."""
    small_job_values: Annotated[int, Field(ge=0)] = 1_000_000
    """Predicted classes and scores up to which work is small."""
    shutdown_timeout_s: Annotated[float, Field(ge=0, le=3_600)] = 8.0
    """Seconds after a signal to stop until what a worker has not ended is given back."""


class ReportsSettings(Section):
    """Where reports are delivered to as files."""

    folder: Annotated[str, Field(min_length=1)] = "reports"
    """Folders of schedules lie in this one; a relative one starts at the working directory."""


class SmtpSettings(Section):
    """The server that takes reports as e-mail."""

    host: str = ""
    """Empty: no e-mail is sent."""
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    """Empty: no sign-in."""
    password: Annotated[str, Field(repr=False)] = ""
    sender: str = ""
    """Address that reports come from."""


class WebhookSettings(Section):
    """How reports are posted to other services."""

    secret: Annotated[str, Field(repr=False)] = ""
    """Key of the signature that receivers check, also as `whsec_…`. Empty: nothing is posted."""
    allow_private_addresses: bool = False
    """Whether to post to this machine and to addresses that only a local network knows."""


class NotifySettings(Section):
    """Chats and other services that Apprise reaches."""

    targets: Annotated[str, Field(repr=False)] = ""
    """`name=url`, separated by blanks or line breaks; reports are sent to these names."""


class LogSettings(Section):
    """What processes that stay say on standard error."""

    format: Literal["logfmt", "json"] = "logfmt"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SqlSettings(Section):
    """How `offdiag sql` answers."""

    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Seconds after which a query is given up."""


class BackupSettings(Section):
    """Backups that the clock makes of an SQLite registry."""

    folder: str = ""
    """A folder of this registry alone. Empty: no backups are made."""
    every: Literal["hour", "day"] = "hour"
    keep: Annotated[int, Field(ge=1, le=10_000)] = 48
    """Newest backups that stay; older ones are removed after a new one."""


class GcSettings(Section):
    """What is deleted permanently, by `offdiag gc` and, if configured, every night."""

    nightly: bool = False
    older_than_days: Annotated[float, Field(ge=0, le=36_500)] = 30.0
    """Days that a deleted run can be brought back."""
    keep: Annotated[int, Field(ge=0, le=1_000_000)] = 10
    """Superseded evaluations that stay of each run and slice."""


class SlicesSettings(Section):
    """When a group of examples is too small to be judged, or to be shown."""

    min_size: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    """Labelled examples below which a group decides nothing; a metric of a class counts those
    of the class."""
    suppress_below: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Labelled examples below which the figures of a group are hidden. 0: all are shown."""


class EvaluationSettings(Section):
    """How runs are evaluated."""

    exact_scores_up_to: Annotated[int, Field(ge=0, le=2**62)] = 20_000_000
    """Examples up to which the scores of the positive class are sorted one by one; those of larger
    runs are counted in narrow bins, with a bound of how far each value may be off."""


class FlagsSettings(Section):
    """Thresholds of the flag rules; names, meanings and defaults are those of the rules.

    Stated again here because the rules know no settings and settings know no rules; a test
    holds the two lists together.
    """

    minority_share: Share = 0.5
    zero_recall_alpha: Share = 0.05
    zero_recall_chance: Share = 0.5
    recall_gap: Share = 0.20
    recall_gap_critical: Share = 0.40
    recall_gap_proof_alpha: Share = 0.05
    recall_gap_alpha: Share = 0.01
    recall_gap_cap: Share = 0.95
    majority_alpha: Share = 0.05
    majority_skill: Share = 0.5
    majority_skill_critical: Share = 0.1
    balanced_accuracy_gap: Share = 0.15
    balanced_accuracy_gap_high: Share = 0.25
    macro_f1_gap: Share = 0.15
    low_skill_accuracy: Share = 0.80
    low_skill_mcc: Correlation = 0.30
    low_skill_kappa: Correlation = 0.20
    precision_accuracy: Share = 0.80
    precision_predictions: Annotated[int, Field(ge=1)] = 5
    precision_level: Share = 0.5
    precision_alpha: Share = 0.01
    under_prediction_ratio: Share = 0.5
    under_prediction_alpha: Share = 0.01
    support_cases: Annotated[int, Field(ge=1)] = 30
    support_half_width: Share = 0.15
    support_recall: Share = 0.80
    cost_alpha: Share = 0.05
    regression_drop: Share = 0.02
    regression_drop_high: Share = 0.10
    regression_alpha: Share = 0.05
    rank_flip_saving: Share = 0.05


class Settings(Section):
    """All settings of one process."""

    project: Name = "default"
    """Project of runs that name none."""
    database: DatabaseSettings = DatabaseSettings()
    client: ClientSettings = ClientSettings()
    server: ServerSettings = ServerSettings()
    access: AccessSettings = AccessSettings()
    oidc: OidcSettings = OidcSettings()
    jobs: JobsSettings = JobsSettings()
    reports: ReportsSettings = ReportsSettings()
    smtp: SmtpSettings = SmtpSettings()
    webhook: WebhookSettings = WebhookSettings()
    notify: NotifySettings = NotifySettings()
    log: LogSettings = LogSettings()
    sql: SqlSettings = SqlSettings()
    backup: BackupSettings = BackupSettings()
    gc: GcSettings = GcSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    slices: SlicesSettings = SlicesSettings()
    flags: FlagsSettings = FlagsSettings()


def is_loopback(host: str) -> bool:
    """Whether a server that listens there is reached from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def public_address(settings: ServerSettings) -> str:
    """Where people reach the server, without a slash at the end."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url.rstrip("/") or f"http://{host}:{settings.port}"


def needs_sign_in(settings: Settings) -> bool:
    """Whether users have to sign in: wherever others can reach the server, or on demand."""
    return settings.access.auth == "required" or not is_loopback(settings.server.host)
