"""Tests of what a local server refuses."""

from __future__ import annotations

from email.message import Message

import pytest

from proton.render.server.guard import Key, cookie_name, is_typed, refusal, without_token


def asked(method: str = "GET", target: str = "/", **headers: str) -> int | None:
    """The status of the refusal of a request; None where it is answered."""
    message = Message()
    for name, value in {"Host": "127.0.0.1:8710", **headers}.items():
        message[name.replace("_", "-")] = value
    found = refusal(method, target, message)
    return None if found is None else int(found.status)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LOCALHOST:8710", "127.0.0.1:8710", "[::1]:8710"]
)
def test_names_of_this_machine_are_served(host: str) -> None:
    assert asked(Host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8710",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8710",
        "localhost@evil.example",
        "evil.example/@localhost",
        "localhost:port",
        "localhost:0",
        "0.0.0.0",
        "[::1",
        "",
    ],
)
def test_any_other_host_is_refused(host: str) -> None:
    assert asked(Host=host) == 403


def test_a_request_has_one_host() -> None:
    message = Message()
    found = refusal("GET", "/", message)
    assert found is not None
    assert found.status == 403
    message["Host"] = "localhost"
    message["Host"] = "evil.example"
    assert refusal("GET", "/", message) is not None


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8710", "http://127.0.0.1:9999", "file://"],
)
def test_pages_of_another_origin_are_refused(origin: str) -> None:
    assert asked(Origin=origin) == 403


def test_our_own_pages_are_answered() -> None:
    assert asked(Origin="http://127.0.0.1:8710", Sec_Fetch_Site="same-origin") is None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_link_here_but_not_load_from_here(site: str) -> None:
    link = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "navigate"}
    assert asked(**link, Sec_Fetch_Dest="document") is None
    assert asked(**link, Sec_Fetch_Dest="iframe") == 403
    assert asked(Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="script") == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"])
def test_other_methods_are_refused(method: str) -> None:
    assert asked(method) == 405


@pytest.mark.parametrize("target", ["http://evil.example/", "*", "//evil.example/", ""])
def test_a_target_is_a_path(target: str) -> None:
    assert asked("GET", target) == 400


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def note(given: bytes, known: bytes) -> bool:
        compared.append(given)
        return given == known

    monkeypatch.setattr("secrets.compare_digest", note)
    key = Key("right")
    headers = Message()
    headers["Cookie"] = f"{cookie_name(7)}=from-cookie; {key.cookie(8)}"
    assert not key.is_shown("/?token=from-address", headers, 7)
    assert key.is_shown("/", headers, 8)
    assert compared == [b"from-address", b"from-cookie", b"right"]


def test_without_a_token_everybody_is_let_in() -> None:
    key = Key("")
    assert key.is_shown("/", Message(), 7)
    assert (key.in_address(), key.is_in("/?token=")) == ("", False)


def test_only_the_token_leaves_the_address() -> None:
    assert without_token("/view/a%20b/?token=x") == "/view/a%20b/"
    assert without_token("/?a=&token=x&b=1") == "/?a=&b=1"


@pytest.mark.parametrize(
    ("site", "is_so"), [("none", True), ("same-origin", True), ("cross-site", False), (None, False)]
)
def test_an_address_is_typed_where_the_browser_says_so(site: str | None, is_so: bool) -> None:
    headers = Message()
    if site is not None:
        headers["Sec-Fetch-Site"] = site
    assert is_typed(headers) is is_so
