"""Which requests a local server answers: those of a person on this machine, and of its own pages.

Names that resolve to loopback only by a trick (DNS rebinding) and pages of other sites get a
refusal, whatever they ask for.
"""

from __future__ import annotations

from email.message import Message
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

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
