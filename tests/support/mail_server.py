"""The smallest mail server that a client can talk to, with faults on demand."""

from __future__ import annotations

import base64
import io
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from support.listeners import Listener


@dataclass
class Mailbox:
    """A server's behaviour and what arrived: (sender, recipients, message) each.

    `answers` replaces the answer to a command by another one.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    letters: list[tuple[str, list[str], EmailMessage]] = field(default_factory=list)
    sign_ins: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, connection: socket.socket, _listener: Listener) -> None:
        stream = connection.makefile("rwb")
        envelope: dict[str, list[str]] = {"MAIL": [], "RCPT": []}
        answer = self.answers.get("CONNECT", "220 mail.example ESMTP")
        while True:
            stream.write(f"{answer}\r\n".encode())
            stream.flush()
            line = stream.readline().decode(errors="replace").strip()
            verb, _, rest = line.partition(" ")
            if verb in {"", "QUIT"} and verb not in self.answers:
                return
            answer = self.answers.get(verb.upper()) or self._answer(verb, rest, envelope)
            if answer.startswith("354"):
                stream.write(f"{answer}\r\n".encode())
                stream.flush()
                self.letters.append((*_addresses(envelope), _letter(stream)))
                answer = "250 taken"

    def _answer(self, verb: str, rest: str, envelope: dict[str, list[str]]) -> str:
        match verb.upper():
            case "EHLO":
                return "250-mail.example\r\n250-AUTH PLAIN\r\n250 8BITMIME"
            case "AUTH":
                _, user, word = base64.b64decode(rest.split()[1]).decode().split("\0")
                self.sign_ins.append((user, word))
                return "235 welcome"
            case "MAIL" | "RCPT":
                envelope[verb.upper()].append(rest.partition(":")[2])
                return "250 ok"
            case "DATA":
                return "354 go on"
            case _:
                return "250 ok"


def _addresses(envelope: dict[str, list[str]]) -> tuple[str, list[str]]:
    return envelope["MAIL"][0], [address.strip("<>") for address in envelope["RCPT"]]


def _letter(stream: io.BufferedRWPair) -> EmailMessage:
    letter = b""
    while (part := stream.readline()) != b".\r\n":
        letter += part.removeprefix(b".") if part.startswith(b"..") else part
    return message_from_bytes(letter, policy=policy.default)
