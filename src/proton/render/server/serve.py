"""A server of pages for this machine alone: a `Site` over HTTP on loopback.

Every request passes `guard.refusal` first, and has to show the token of the address. One stream for
each open page says when files changed.
"""

from __future__ import annotations

import errno
import sys
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

from proton.errors import ServeError
from proton.render.server.guard import (
    HEADERS,
    NOT_ADMITTED,
    Key,
    Refusal,
    is_typed,
    refusal,
    without_token,
)
from proton.render.server.site import CHANGES, TEXT, Answer, Place, Site

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8710
_NEXT_PORTS = 20  # tried after the default one
_MOST_STREAMS = 64
_POLL_S = 0.5
_SETTLE_S = 5.0  # a file that never rests is shown as it is after this
_SIGN_OF_LIFE_S = 15.0  # finds out whose page is gone


class Server(ThreadingHTTPServer):
    """Serves one site until `close`."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True  # a port that was just given up is free

    def __init__(
        self,
        site: Site,
        port: int | None = None,
        *,
        poll_s: float = _POLL_S,
        token: str | None = None,
    ) -> None:
        """Bind to loopback.

        Args:
            site: What to serve.
            port: Where; 0 for any free port, None for the default or the next free one.
            poll_s: How often files are looked at.
            token: What the address has to show; None for a new one, empty for none at all.

        Raises:
            ServeError: The port is busy or may not be used.
        """
        self.site = site
        self.poll_s = poll_s
        self.key = Key(token)
        self.is_closing = threading.Event()
        self.streams = threading.BoundedSemaphore(_MOST_STREAMS)
        ports = range(DEFAULT_PORT, DEFAULT_PORT + _NEXT_PORTS) if port is None else (port,)
        for last in ports:
            try:
                super().__init__((ADDRESS, last), _Handler)
            except OSError as error:
                if error.errno == errno.EADDRINUSE and last != ports[-1]:
                    continue
                raise _bind_error(ports[0], ports[-1], error) from None
            return

    @property
    def url(self) -> str:
        """Where it is, with the token that lets in."""
        return f"http://{ADDRESS}:{self.port}/{self.key.in_address()}"

    @property
    def port(self) -> int:
        """The port that was found."""
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet where a browser hung up; anything else is a bug and says so."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop serving; streams end by themselves."""
        self.is_closing.set()
        self.server_close()


def _bind_error(first: int, last: int, error: OSError) -> ServeError:
    if error.errno == errno.EADDRINUSE and first == last:
        return ServeError(
            f"port {first} is busy on {ADDRESS}; choose another with --port N, or --port 0 for any "
            "that is free"
        )
    if error.errno == errno.EADDRINUSE:
        return ServeError(
            f"ports {first} to {last} are busy on {ADDRESS}; --port 0 takes any that is free"
        )
    if error.errno == errno.EACCES:
        return ServeError(f"port {first} needs rights that you do not have; take one from 1024 on")
    return ServeError(f"port {first} cannot be used on {ADDRESS}: {error.strerror or error}")


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "proton"
    sys_version = ""
    timeout = 60  # seconds for a request to come; a stream is only written to
    _more: Mapping[str, str] = MappingProxyType({})  # headers of this answer

    def do_GET(self) -> None:
        """Answer with a body."""
        self._handle(has_body=True)

    def do_HEAD(self) -> None:
        """Answer without one."""
        self._handle(has_body=False)

    def __getattr__(self, name: str) -> Any:
        """Other methods are refused like everything else that is: with a reason."""
        if name.startswith("do_"):
            return lambda: self._handle(has_body=True)
        raise AttributeError(name)

    def _handle(self, *, has_body: bool) -> None:
        self.close_connection = True
        refused = refusal(self.command, self.path, self.headers)
        if refused is not None:
            self._refuse(refused, has_body)
            return
        path = self.path.partition("?")[0].partition("#")[0]
        if path == "/favicon.ico":  # browsers ask by themselves
            self._send(Answer(HTTPStatus.NO_CONTENT, TEXT, b"", {}), has_body)
            return
        key, port = self.server.key, self.server.port
        if not key.is_shown(self.path, self.headers, port):
            self._refuse(NOT_ADMITTED, has_body)
            return
        self._more = {"Set-Cookie": key.cookie(port)} if key.is_in(self.path) else {}
        if self._more and is_typed(self.headers):  # so that the token leaves the address bar
            where = {"Location": without_token(self.path)}
            self._send(Answer(HTTPStatus.FOUND, TEXT, b"", where), has_body)
            return
        site = self.server.site
        if (place := site.place(path)) is None:
            text = b"there is nothing here; the start is at /"
            self._send(Answer(HTTPStatus.NOT_FOUND, TEXT, text, {}), has_body)
        elif place.what == CHANGES:
            self._stream(place, has_body)
        else:
            self._send(site.answer(place), has_body)

    def _refuse(self, refused: Refusal, has_body: bool) -> None:
        extra = {"Allow": "GET, HEAD"} if refused.status == 405 else {}
        self._send(Answer(refused.status, TEXT, refused.text.encode(), extra), has_body)

    def _send(self, answer: Answer, has_body: bool) -> None:
        self._start(answer.status, answer.kind, answer.headers)
        if answer.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if has_body:
            self.wfile.write(answer.body)

    def _start(self, status: HTTPStatus, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **self._more, **headers, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")

    def _stream(self, place: Place, has_body: bool) -> None:
        """Server-sent events: the version of the files now, and each new one."""
        if not self.server.streams.acquire(blocking=False):
            text = f"{_MOST_STREAMS} pages are open already; close some".encode()
            self._send(Answer(HTTPStatus.SERVICE_UNAVAILABLE, TEXT, text, {}), has_body)
            return
        try:
            self._start(HTTPStatus.OK, "text/event-stream", {})
            self.end_headers()
            if has_body:
                self._tell_changes(place)
        except (ConnectionError, TimeoutError):
            pass  # the page is gone
        finally:
            self.server.streams.release()

    def _tell_changes(self, place: Place) -> None:
        server = self.server
        told = seen = server.site.version(place)
        self._event(told)
        changed_at = said_at = time.monotonic()
        while not server.is_closing.wait(server.poll_s):
            now, version = time.monotonic(), server.site.version(place)
            is_at_rest = version == seen
            seen = version
            if version == told:
                changed_at = now
            elif is_at_rest or now - changed_at > _SETTLE_S:
                told, changed_at, said_at = version, now, now
                self._event(version)
            if now - said_at > _SIGN_OF_LIFE_S:
                said_at = now
                self.wfile.write(b":\n\n")

    def _event(self, version: str) -> None:
        self.wfile.write(f"data: {version}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for errors."""
