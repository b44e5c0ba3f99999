"""The settings that exist, their defaults and bounds, and whether they expose a server.

`Settings()` has the defaults alone; `offdiag.settings.load` reads files and the environment.
Unknown keys are refused, because a misspelt setting that is silently ignored looks like one that
works.
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
"""Settings whose values are never shown."""

LOCAL_ENGINE = "local"
"""The value of `jobs.engine` that needs nothing but the database."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
RateLimit = Annotated[
    str,
    Field(
        pattern=r"^[1-9][0-9]* per ([1-9][0-9]* )?(second|minute|hour|day)s?$",
        description="a limit such as 600 per minute",
    ),
]
Correlation = Annotated[float, Field(ge=-1, le=1)]


class Section(BaseModel):
    """A group of settings: immutable, without unknown keys and NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DatabaseSettings(Section):
    """Where the registry is stored."""

    url: Annotated[str, Field(min_length=1)] = "sqlite:///offdiag.db"
    """SQLAlchemy URL; a relative SQLite path is relative to the working directory."""


class ClientSettings(Section):
    """How a job logs to a server."""

    mode: Literal["online", "offline", "disabled"] = "online"
    """Send immediately, keep in the offline queue for `offdiag sync`, or log nothing."""
    on_error: Literal["raise", "warn"] = "raise"
    """Whether to raise or to warn if the server refuses a run; in both cases the offline queue
    keeps what was not stored."""
    token: Annotated[str, Field(repr=False)] = ""
    """API token for the server. Empty: none is sent."""
    spool: Annotated[str, Field(min_length=1)] = "offdiag-spool"
    """Folder of the offline queue, relative to the working directory."""
    retry_for_s: Annotated[float, Field(ge=0, le=86_400)] = 60.0
    """Seconds for which finishing a run retries if the server does not respond."""


class ServerSettings(Section):
    """Where the dashboard listens."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8642
    """0 selects any free port."""
    threads: Annotated[int, Field(ge=1, le=256)] = 4
    """Concurrent requests. Three times as many wait, others receive status 503."""
    shutdown_delay_s: Annotated[float, Field(ge=0, le=300)] = 1.0
    """Seconds between SIGTERM and the end of accepting requests; /readyz returns 503 meanwhile."""
    secret_key: Annotated[str, Field(repr=False)] = ""
    """Key that signs forms. Empty: the one in `secret_key_file`."""
    secret_key_file: str = ""
    """File with that key, created if missing. Empty: next to an embedded database."""
    public_url: Annotated[
        str,
        Field(
            pattern=r"^(https?://[^\s?#]+)?$",
            description="a URL such as https://registry.example.org",
        ),
    ] = ""
    """Public URL of this server, for links in messages. Empty: host and port."""
    trusted_hosts: Annotated[
        str,
        Field(
            pattern=r"^[^/]*$", description="names without https://, such as registry.example.org"
        ),
    ] = ""
    """Additional host names of the server, separated by commas."""
    trusted_proxies: Annotated[int, Field(ge=0, le=10)] = 0
    """Number of trusted proxies, whose headers provide client address, host name and TLS."""
    content_hosts: Annotated[
        str,
        Field(pattern=r"^[^/]*$", description="hosts without https://, such as img.example.org"),
    ] = ""
    """Hosts from which browsers may load images and sound of samples, separated by commas. Empty:
    none."""
    content_limit_mb: Annotated[int, Field(ge=0)] = 0
    """Megabytes of images, texts and fields that the samples of a project may take. 0: no
    limit."""

    @property
    def most_content_bytes(self) -> int | None:
        """The limit in bytes, None for no limit."""
        return self.content_limit_mb * 10**6 or None


class AccessSettings(Section):
    """Who has to sign in, for how long, and with which rate limits."""

    auth: Literal["auto", "required"] = "auto"
    """When sign-in is required: if others can reach the server, or always."""
    session_idle_hours: Annotated[float, Field(gt=0, le=8_760)] = 12.0
    session_days: Annotated[float, Field(gt=0, le=365)] = 14.0
    """Days after which a session expires even if it is in use."""
    share_link_days: Annotated[int, Field(ge=0, le=365)] = 0
    """Maximum lifetime in days of a read-only link to one page. 0: no such links."""
    sign_in_limit: RateLimit = "10 per 10 minutes"
    """Failed sign-ins from one address."""
    sign_in_limit_by_name: RateLimit = "200 per hour"
    """Failed sign-ins for one user name, from all addresses together."""
    read_limit: RateLimit = "600 per minute"
    write_limit: RateLimit = "120 per minute"
    api_limit: RateLimit = "1200 per minute"
    rate_storage: Annotated[str, Field(min_length=1)] = "memory://"
    """Where the counters are stored; processes that share them need a store such as Redis."""


class OidcSettings(Section):
    """The identity provider for sign-in (OpenID Connect)."""

    issuer: str = ""
    """URL of the provider. Empty: users sign in with a password."""
    client_id: str = ""
    client_secret: Annotated[str, Field(repr=False)] = ""
    client_secret_file: str = ""
    """File with the client secret, if it is not given as a setting."""
    scope: str = "openid profile email"
    name_claim: Annotated[str, Field(min_length=1)] = "preferred_username"
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    roles: str = ""
    """`group=role` or `group=role@project`, separated by commas; a group may occur several times.
    Empty: admins assign roles."""


class JobsSettings(Section):
    """How evaluation jobs are executed."""

    engine: Annotated[str, Field(min_length=1, max_length=200)] = LOCAL_ENGINE
    """What notifies workers of new jobs: "local" needs nothing but the database,
    "procrastinate" an extra, others a distribution or "package.module:object"."""
    lease_s: Annotated[float, Field(ge=1, le=86_400)] = 30.0
    """Seconds without a heartbeat after which the job of a worker is given to another worker."""
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 5
    """Attempts to execute a job before it has failed for good, with its last error."""
    poll_ms: Annotated[int, Field(ge=1, le=60_000)] = 50
    """Milliseconds between checks of an empty job queue."""
    concurrency: Annotated[int, Field(ge=1, le=64)] = 2
    """Jobs that one worker executes at the same time. The last of them takes only small jobs, and
    only after the others have been busy for a second."""
    small_job_values: Annotated[int, Field(ge=0)] = 1_000_000
    """Number of predicted classes and scores up to which a job is small."""
    shutdown_timeout_s: Annotated[float, Field(ge=0, le=3_600)] = 8.0
    """Seconds after a stop signal until a worker releases its unfinished jobs."""


class ReportsSettings(Section):
    """Where reports are delivered as files."""

    folder: Annotated[str, Field(min_length=1)] = "reports"
    """Parent of the folders of schedules, relative to the working directory."""


class SmtpSettings(Section):
    """The mail server that sends reports."""

    host: str = ""
    """Empty: no e-mail is sent."""
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    """Empty: no sign-in."""
    password: Annotated[str, Field(repr=False)] = ""
    sender: str = ""
    """Sender address of reports."""


class WebhookSettings(Section):
    """How reports are posted to other services."""

    secret: Annotated[str, Field(repr=False)] = ""
    """Key for the signature that receivers check, optionally as `whsec_…`. Empty: nothing is
    posted."""
    allow_private_addresses: bool = False
    """Whether to post to this machine and to private addresses."""


class NotifySettings(Section):
    """Chats and other services, through Apprise."""

    targets: Annotated[str, Field(repr=False)] = ""
    """`name=url` pairs separated by white space; reports are sent to these names."""


class LogSettings(Section):
    """Logs of long-running processes on standard error."""

    format: Literal["logfmt", "json"] = "logfmt"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SqlSettings(Section):
    """Limits of `offdiag sql`."""

    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Seconds after which a query is cancelled."""


class BackupSettings(Section):
    """Backups that the scheduler makes of an SQLite registry."""

    folder: str = ""
    """A folder used by this registry alone. Empty: no backups are made."""
    every: Literal["hour", "day"] = "hour"
    keep: Annotated[int, Field(ge=1, le=10_000)] = 48
    """Number of newest backups to keep; older ones are removed after each new one."""


class GcSettings(Section):
    """What is deleted permanently, by `offdiag gc` and, if configured, every night."""

    nightly: bool = False
    older_than_days: Annotated[float, Field(ge=0, le=36_500)] = 30.0
    """Days for which a deleted run can be restored."""
    keep: Annotated[int, Field(ge=0, le=1_000_000)] = 10
    """Superseded evaluations to keep of each run and slice."""


class SlicesSettings(Section):
    """When a group of examples is too small to be checked or shown."""

    min_size: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    """Labelled examples that a group needs to count in conditions; for a metric of a class,
    examples of that class."""
    suppress_below: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Labelled examples that a group needs for its values to be shown. 0: all groups are shown."""


class EvaluationSettings(Section):
    """How runs are evaluated."""

    exact_scores_up_to: Annotated[int, Field(ge=0, le=2**62)] = 20_000_000
    """Number of examples up to which the scores of the positive class are sorted individually.
    Larger runs are counted in narrow bins, with a bound on the error of each value."""


class FlagsSettings(Section):
    """Thresholds of the flag rules; names, meanings and defaults are those of the rules.

    They are repeated here because rules and settings do not import each other; a test compares
    both.
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
    """Project of runs that do not name one."""
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
    """Whether a server listening on this host can be reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def public_address(settings: ServerSettings) -> str:
    """Public URL of the server, without a trailing slash."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url.rstrip("/") or f"http://{host}:{settings.port}"


def needs_sign_in(settings: Settings) -> bool:
    """Whether users have to sign in: if others can reach the server, or if required."""
    return settings.access.auth == "required" or not is_loopback(settings.server.host)
