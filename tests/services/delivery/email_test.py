"""E-mail: whole, to one mailbox, with headers that no name can break out of."""

from __future__ import annotations

import time

import pytest

from offdiag.services.delivery import targets
from offdiag.services.delivery.message import DeliveryFailed, DeliveryRefused
from offdiag.services.delivery.targets import deliver_by_email, email_of
from offdiag.settings import SmtpSettings
from support.listeners import Listener, dripping, listening
from support.mail_server import Mailbox
from support.messages import parcel

SENDER = "offdiag@example.org"


def settings_of(listener: Listener, **changes: str) -> SmtpSettings:
    facts = {"host": listener.host, "port": listener.port, "security": "none", "sender": SENDER}
    return SmtpSettings.model_validate(facts | changes)


def test_an_edition_arrives_as_text_with_page_and_table_attached() -> None:
    mailbox = Mailbox()
    with listening(mailbox) as server:
        deliver_by_email(parcel(), "ana@example.org", settings_of(server))

    ((sender, recipients, letter),) = mailbox.letters
    assert SENDER in sender
    assert recipients == ["ana@example.org"]
    assert letter["Subject"] == "[offdiag] derm-7 weekly #41: No change exceeds its interval."
    assert letter["To"] == "ana@example.org"
    body = letter.get_body(("plain",))
    assert body is not None
    assert body.get_content().splitlines() == ["# derm-7 č"]
    attached = {part.get_filename(): part for part in letter.iter_attachments()}
    assert set(attached) == {"derm-7-weekly-0041.html", "derm-7-weekly-0041.csv"}
    assert attached["derm-7-weekly-0041.html"].get_content_type() == "text/html"
    assert "č" in attached["derm-7-weekly-0041.html"].get_content()


def test_every_attempt_has_the_same_message_id() -> None:
    ids = {email_of(parcel(), "a@b.org", SmtpSettings(sender=SENDER))["Message-ID"] for _ in "ab"}

    assert ids == {"<0123456789abcdef-41-7@offdiag>"}


@pytest.mark.parametrize(
    "name",
    [
        "a\r\nBcc: eve@example.org",
        "a\nSubject: other",
        "a\r\n\r\n<script>",
        "a\u2028Bcc: eve",
        "č\x00",
    ],
)
def test_hostile_names_break_no_header(name: str) -> None:
    mailbox = Mailbox()
    hostile = parcel(name=name, headline=f"{name} changed")
    with listening(mailbox) as server:
        deliver_by_email(hostile, "ana@example.org", settings_of(server))

    ((_, recipients, letter),) = mailbox.letters
    assert recipients == ["ana@example.org"]
    assert letter["Bcc"] is None
    assert letter.get_all("Subject") == [letter["Subject"]]
    assert "\n" not in letter["Subject"]


def test_a_long_headline_is_cut_in_the_subject() -> None:
    message = email_of(parcel(headline="x" * 5_000), "a@b.org", SmtpSettings(sender=SENDER))

    assert len(message["Subject"]) == 150


def test_it_signs_in_where_a_user_is_set() -> None:
    mailbox = Mailbox()
    with listening(mailbox) as server:
        signed = settings_of(server, user="offdiag", password="hunter2")
        deliver_by_email(parcel(), "ana@example.org", signed)

    assert mailbox.sign_ins == [("offdiag", "hunter2")]


@pytest.mark.parametrize("missing", ["host", "sender"])
def test_without_a_server_or_a_sender_it_is_refused(missing: str) -> None:
    settings = SmtpSettings.model_validate({"host": "h", "sender": SENDER} | {missing: ""})

    with pytest.raises(DeliveryRefused, match=r"Set smtp\.host and smtp\.sender"):
        deliver_by_email(parcel(), "ana@example.org", settings)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("CONNECT", "554 go away"),
        ("MAIL", "550 unknown sender"),
        ("RCPT", "550 no such mailbox"),
        ("RCPT", "450 try later"),
        ("DATA", "552 too large"),
        ("AUTH", "535 wrong password"),
    ],
)
def test_an_answer_that_is_no_yes_is_a_failure(command: str, answer: str) -> None:
    with listening(Mailbox({command: answer})) as server:
        settings = settings_of(server, user="offdiag", password="hunter2")
        with pytest.raises(DeliveryFailed) as failed:
            deliver_by_email(parcel(), "ana@example.org", settings)

    assert str(failed.value).endswith(f" did not take the message: {answer}.")
    assert "hunter2" not in str(failed.value)


def test_a_rude_goodbye_does_not_undo_what_was_taken() -> None:
    mailbox = Mailbox({"QUIT": "500 what?"})
    with listening(mailbox) as server:
        deliver_by_email(parcel(), "ana@example.org", settings_of(server))

    assert len(mailbox.letters) == 1


def test_a_server_without_starttls_is_not_talked_to_in_the_clear() -> None:
    mailbox = Mailbox()
    with listening(mailbox) as server, pytest.raises(DeliveryFailed, match="STARTTLS"):
        deliver_by_email(parcel(), "ana@example.org", settings_of(server, security="starttls"))

    assert not mailbox.letters


def test_a_server_without_tls_does_not_pass_for_one_with_it() -> None:
    mailbox = Mailbox()
    with listening(mailbox) as server, pytest.raises(DeliveryFailed):
        deliver_by_email(parcel(), "ana@example.org", settings_of(server, security="tls"))

    assert not mailbox.letters


def test_a_server_that_speaks_a_byte_at_a_time_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(targets, "EMAIL_LIMIT_S", 0.3)

    def slow(connection: object, listener: Listener) -> None:
        while not listener.closing.wait(0.02):
            connection.sendall(b"2")  # type: ignore[attr-defined]  # a socket

    with listening(slow) as server:
        began = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not take the message"):
            deliver_by_email(parcel(), "ana@example.org", settings_of(server))

        assert time.monotonic() - began < 5


def test_a_closed_port_is_a_failure() -> None:
    with listening(dripping(b"")) as server:
        settings = settings_of(server)

    with pytest.raises(DeliveryFailed, match="Connection refused"):
        deliver_by_email(parcel(), "ana@example.org", settings)
