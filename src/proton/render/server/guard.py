"""Which requests a local server answers: those of who was given its address, and of its own pages.

The address has a token in it, which the browser keeps as a cookie. Names that resolve to loopback
only by a trick (DNS rebinding) and pages of other sites get a refusal, whatever they ask for.
"""

from __future__ import annotations

import secrets
from email.message import Message
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

_METHODS = ("GET", "HEAD")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

# What every answer tells the browser; the pages themselves say which scripts may run.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: HTTPStatus
    text: str


def refusal(method: str, target: str, headers: Message) -> Refusal | None:
    """What is wrong with a request; None for one that may be answered."""
    if method not in _METHODS:
        return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"only {' and '.join(_METHODS)} are answered")
    if not target.startswith("/") or target.startswith("//"):
        return Refusal(HTTPStatus.BAD_REQUEST, "the target must be a path")
    hosts = headers.get_all("Host", [])
    if len(hosts) != 1 or _host_name(hosts[0]) not in _LOOPBACK:
        return Refusal(
            HTTPStatus.FORBIDDEN, "only localhost, 127.0.0.1 and [::1] are served; open one of them"
        )
    origins = headers.get_all("Origin", [])
    if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
        return Refusal(HTTPStatus.FORBIDDEN, "pages of other sites are not answered")
    if _is_foreign(headers):
        return Refusal(HTTPStatus.FORBIDDEN, "pages of other sites are not answered")
    return None


class Key:
    """The token of one server: who shows it, in the address or as a cookie, may see its pages."""

    PARAMETER = "token"

    def __init__(self, token: str | None = None) -> None:
        """Of this token, by default a new one that nobody can guess; empty: everybody may."""
        self.token = secrets.token_urlsafe(24) if token is None else token

    def in_address(self) -> str:
        """What the address of the server ends in."""
        return f"?{urlencode({self.PARAMETER: self.token})}" if self.token else ""

    def is_shown(self, target: str, headers: Message, port: int) -> bool:
        """Whether a request may be answered."""
        if not self.token or self.is_in(target):
            return True
        pairs = (
            pair.strip().partition("=")
            for header in headers.get_all("Cookie", [])
            for pair in header.split(";")
        )
        name = cookie_name(port)
        return any(self._is_right(value) for known, _, value in pairs if known == name)

    def is_in(self, target: str) -> bool:
        """Whether the target of a request has the token."""
        return any(
            bool(self.token) and name == self.PARAMETER and self._is_right(value)
            for name, value in parse_qsl(target.partition("?")[2])
        )

    def cookie(self, port: int) -> str:
        """The cookie by which the browser shows it from now on; scripts do not see it."""
        return f"{cookie_name(port)}={self.token}; HttpOnly; SameSite=Strict; Path=/"

    def _is_right(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())


NOT_ADMITTED = Refusal(
    HTTPStatus.FORBIDDEN,
    "open the whole address that 'proton serve' printed: nothing is shown without its token",
)


def cookie_name(port: int) -> str:
    """Of the server on this port: browsers do not tell the ports of a host apart."""
    return f"proton-{port}"


def without_token(target: str) -> str:
    """The target of a request as it looks once the browser has the cookie."""
    path, _, query = target.partition("?")
    kept = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != Key.PARAMETER]
    return f"{path}?{urlencode(kept)}" if kept else path


def is_typed(headers: Message) -> bool:
    """Whether a person opened the address or one of our pages did, and no link of another site.

    After a link of another site the browser would not show a strict cookie to where it is sent on.
    """
    return headers.get("Sec-Fetch-Site") in ("none", "same-origin")


def _host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is none."""
    if any(character in host for character in "/@?#\\ "):
        return None
    try:
        parts = urlsplit(f"//{host}")
        return None if parts.port == 0 else parts.hostname
    except ValueError:  # a port that is no number, a bracket that is not closed
        return None


def _is_foreign(headers: Message) -> bool:
    """Whether another site's page asks; a link that a person followed from there is welcome."""
    if headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("Sec-Fetch-Mode") == "navigate"
    return not (is_link and headers.get("Sec-Fetch-Dest") == "document")
