"""Tests of the server itself, over its socket."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from proton.errors import ServeError
from proton.files.write import write_profile
from proton.model.profile import Profile
from proton.render.server.guard import Key
from proton.render.server.serve import ADDRESS, Server
from proton.render.server.site import Maker, Site
from tests.support.profiles import profile_of


def pack(profiles: Sequence[Profile]) -> bytes:
    return json.dumps([profile.source for profile in profiles]).encode()


def write(path: str, time_ns: int = 5) -> None:
    write_profile(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns})]), path)


@pytest.fixture
def server(tmp_cwd: Path) -> Iterator[Server]:
    """A server of one file, at work."""
    write("run.hatchet")
    serving = Server(
        Site(["run.hatchet"], Maker(lambda _: "<page>", pack)), 0, poll_s=0.01, token=""
    )
    thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
    thread.start()
    yield serving
    serving.shutdown()
    serving.close()
    thread.join()


Ask = Callable[..., tuple[http.client.HTTPResponse, bytes]]


@pytest.fixture
def ask(server: Server) -> Ask:
    """`ask("GET", "/", Host="evil")` -> response and body."""

    def send(method: str, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(ADDRESS, server.server_address[1], timeout=20)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    return send


def test_it_listens_on_loopback_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/"


TOKEN = "right-token"


@pytest.fixture
def locked(server: Server) -> Server:
    """The same server, with a token."""
    server.key = Key(TOKEN)
    return server


@pytest.mark.parametrize("path", ["/", "/data", "/changes", "/nothing", "/?token=", "/?token=x"])
def test_without_the_token_nothing_is_shown(locked: Server, ask: Ask, path: str) -> None:
    for cookie in ("", f"proton-{locked.port}=wrong", f"proton-1={TOKEN}", f"x={TOKEN}"):
        response, body = ask("GET", path, Cookie=cookie)
        assert response.status == 403
        assert b"open the whole address that 'proton serve' printed" in body
        assert "Set-Cookie" not in response.headers


def test_the_token_in_the_address_becomes_a_cookie_that_scripts_do_not_see(
    locked: Server, ask: Ask
) -> None:
    response, body = ask("GET", f"/?token={TOKEN}")
    assert (response.status, body) == (200, b"<page>")
    cookie = response.headers["Set-Cookie"]
    assert cookie == f"proton-{locked.port}={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    shown = cookie.partition(";")[0]
    for path in ("/", "/data"):
        response, _ = ask("GET", path, Cookie=f"other=1; {shown}")
        assert response.status == 200
        assert "Set-Cookie" not in response.headers


def test_an_address_that_a_person_typed_loses_its_token(locked: Server, ask: Ask) -> None:
    typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    response, _ = ask("GET", f"/?x=1&token={TOKEN}", **typed)
    assert (response.status, response.headers["Location"]) == (302, "/?x=1")
    link = {**typed, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert ask("GET", f"/?token={TOKEN}", **link)[0].status == 200


def test_the_address_has_the_token_and_each_server_its_own(locked: Server) -> None:
    assert locked.url == f"http://127.0.0.1:{locked.port}/?token={TOKEN}"
    others = [Server(locked.site, 0) for _ in range(2)]
    for other in others:
        other.close()
    first, second = (other.key.token for other in others)
    assert first != second
    assert min(len(first), len(second)) >= 32


def test_pages_and_data_are_sent_with_headers_that_keep_them_apart(ask: Ask) -> None:
    response, body = ask("GET", "/?x=1")
    assert (response.status, body) == (200, b"<page>")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in response.headers
    response, body = ask("GET", "/data")
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Content-Length"] == str(len(body))


def test_head_has_no_body(ask: Ask) -> None:
    response, body = ask("HEAD", "/")
    assert (response.status, body, response.headers["Content-Length"]) == (200, b"", "6")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (("GET", "/run.hatchet"), 404),
        (("GET", "/../run.hatchet"), 404),
        (("GET", "/%2e%2e/etc/passwd"), 404),
        (("GET", "/favicon.ico"), 204),
        (("POST", "/"), 405),
        (("OPTIONS", "/data"), 405),
        (("BREW", "/"), 405),
        (("GET", "http://evil.example/"), 400),
    ],
)
def test_what_is_not_served_is_refused(ask: Ask, request_: tuple[str, str], status: int) -> None:
    assert ask(*request_)[0].status == status


def test_other_hosts_and_origins_are_refused_for_every_path(ask: Ask) -> None:
    for path in ("/", "/data", "/changes", "/nothing"):
        assert ask("GET", path, Host="evil.example")[0].status == 403
        assert ask("GET", path, Origin="http://evil.example")[0].status == 403


class Stream:
    """The events of /changes."""

    def __init__(self, server: Server) -> None:
        self.socket = socket.create_connection((ADDRESS, server.server_address[1]), timeout=20)
        self.socket.sendall(b"GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.file = self.socket.makefile("rb")
        self.head = b"".join(iter(self.file.readline, b"\r\n"))

    def next(self) -> str:
        line = self.file.readline()
        assert self.file.readline() == b"\n"
        return line.decode().removeprefix("data: ").strip()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture
def stream(server: Server) -> Iterator[Stream]:
    found = Stream(server)
    yield found
    found.close()


def test_a_page_is_told_when_the_file_changes(server: Server, stream: Stream, ask: Ask) -> None:
    assert b"text/event-stream" in stream.head
    first = stream.next()
    assert ask("GET", "/data")[0].headers["ETag"] == f'"{first}"'
    write("run.hatchet", 6)
    second = stream.next()
    assert second != first
    assert ask("GET", "/data")[0].headers["ETag"] == f'"{second}"'


def test_a_page_is_told_when_the_file_is_gone_and_when_it_is_back(stream: Stream, ask: Ask) -> None:
    versions = [stream.next()]
    os.unlink("run.hatchet")
    versions.append(stream.next())
    response, body = ask("GET", "/data")
    assert (response.status, body) == (409, b"run.hatchet: no such file any more")
    write("run.hatchet")
    versions.append(stream.next())
    assert len(set(versions)) == 3
    assert ask("GET", "/data")[0].status == 200


def test_streams_end_with_the_server(server: Server, stream: Stream) -> None:
    stream.next()
    server.is_closing.set()
    assert stream.file.readline() == b""


def test_there_are_only_so_many_streams(server: Server, ask: Ask) -> None:
    while server.streams.acquire(blocking=False):
        pass
    response, body = ask("GET", "/changes")
    assert response.status == 503
    assert body == b"64 pages are open already; close some"
    server.streams.release()
    with socket.create_connection((ADDRESS, server.server_address[1]), timeout=20) as plain:
        plain.sendall(b"HEAD /changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in plain.recv(100)


def test_a_browser_that_hangs_up_is_no_error(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        with socket.create_connection((ADDRESS, server.server_address[1]), timeout=20) as plain:
            plain.sendall(b"GET /data HTTP/1.1\r\n")
    server.shutdown()
    assert capfd.readouterr().err == ""


def test_a_busy_port_is_one_line_with_the_next_step(server: Server) -> None:
    port = server.server_address[1]
    with pytest.raises(ServeError) as caught:
        Server(server.site, port)
    assert str(caught.value) == (
        f"port {port} is busy on 127.0.0.1; choose another with --port N, or --port 0 for any "
        "that is free"
    )


def test_the_default_port_gives_way_to_the_next_one(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = server.server_address[1]
    monkeypatch.setattr("proton.render.server.serve.DEFAULT_PORT", port)
    other = Server(server.site)
    other.close()
    assert port < other.server_address[1] < port + 20


def test_when_all_are_busy_any_is_offered(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.render.server.serve.DEFAULT_PORT", server.server_address[1])
    monkeypatch.setattr("proton.render.server.serve._NEXT_PORTS", 1)
    with pytest.raises(ServeError, match="is busy"):
        Server(server.site)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("EACCES", "port 80 needs rights that you do not have; take one from 1024 on"),
        ("EADDRNOTAVAIL", "port 80 cannot be used on 127.0.0.1: Cannot assign"),
    ],
)
def test_a_port_that_may_not_be_used_is_one_line(
    server: Server, monkeypatch: pytest.MonkeyPatch, number: str, said: str
) -> None:
    def fail(self: Any) -> None:
        import errno

        code = getattr(errno, number)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Server, "server_bind", fail)
    with pytest.raises(ServeError, match=said):
        Server(server.site, 80)
