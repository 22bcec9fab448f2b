"""`proton serve` in a browser: pages that renew themselves, folders, and who is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from proton.model.profile import TreeProfile
from tests.conftest import folder_of_proton
from tests.support.browser import Opened, Tabs
from tests.support.waiting import wait_for
from tests.web.conftest import DATA, find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from proton.render.server.serve import Server

Serve = Callable[..., "Server"]
Open = Callable[..., Opened]
GPT = (DATA / "gpt.hatchet").read_bytes()
LOST = "net::ERR_CONNECTION_REFUSED"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(path...)`: a server of these, which looks at its files often."""
    from proton.render.server.serve import Server
    from proton.render.server.site import Site, page_maker

    started: list[tuple[Server, threading.Thread]] = []

    def start(*paths: Path, port: int = 0, token: str | None = None) -> Server:
        site = Site([str(path) for path in paths], page_maker())
        server = Server(site, port, poll_s=0.05, token=token)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        server.close()
        thread.join()


@pytest.fixture
def open_served(tabs: Tabs) -> Iterator[Open]:
    """`open_served(server.url, hash=...)`; fails on complaints of the page, like `open_page`."""
    with tabs.closed_without_problems() as open_url:
        yield lambda url, **options: open_url(url, own=url.partition("?")[0], **options)


def replace(path: Path, content: bytes) -> None:
    """Write as Proton does: all at once."""
    path.with_suffix(".new").write_bytes(content)
    os.rename(path.with_suffix(".new"), path)


def kernels(opened: Opened) -> list[str]:
    return opened.texts("table.kernels tbody td.name")


def test_a_served_page_is_that_of_a_report_and_says_that_it_is_live(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    replace(tmp_path / "run.hatchet", GPT)
    opened = open_served(serve(tmp_path / "run.hatchet").url)
    opened.page.wait_for_selector("text=● live")
    assert "flash_fwd" in kernels(opened)


def test_a_page_renews_itself_and_stays_at_what_was_looked_at(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    path = tmp_path / "run.hatchet"
    replace(path, GPT)
    opened = open_served(serve(path).url, hash="theme=dark&search=f")
    opened.page.wait_for_selector("text=● live")
    opened.page.click("text=flash_fwd")
    opened.page.click(".contexts button >> nth=0")
    row = opened.hash()
    assert "sel=node:" in row
    tree, devices = json.loads(GPT)
    tree["children"].insert(
        0, {**tree["children"][0], "frame": {"name": "f_new", "type": "function"}}
    )
    tree["proton"].pop("kinds")
    tree["proton"].pop("kernels", None)
    replace(path, json.dumps([tree, devices]).encode())
    opened.page.wait_for_selector("text=f_new")
    assert opened.texts(".details h2") == ["flash_fwd"]
    assert "search=f" in opened.hash()
    assert "theme=dark" in opened.hash()
    assert opened.hash() != row  # the same context stands in another row


def test_phases_of_a_job_appear_as_it_writes_them(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    replace(tmp_path / "run.part_0.hatchet", GPT)
    opened = open_served(serve(tmp_path / "run").url)
    runs = opened.page.locator(".figure", has_text="kernel runs").locator("strong")
    assert runs.inner_text() == "172"
    replace(tmp_path / "run.part_1.hatchet", GPT)
    opened.page.wait_for_selector(".figure strong >> text=344")
    (tmp_path / "run.part_2.hatchet").write_bytes(GPT[:500])
    opened.page.wait_for_selector("text=left out: ")
    assert runs.inner_text() == "344"
    replace(tmp_path / "run.part_2.hatchet", GPT)
    opened.page.wait_for_selector(".figure strong >> text=516")
    assert opened.page.locator("text=left out: ").count() == 0


_JOB = """
import sys
import proton

session = proton.start("run", backend="interpreter")
for phase in ("warm_up", "train", "test"):
    with proton.scope(phase, metrics={"tokens": 64}):
        pass
    print(phase, flush=True)
    sys.stdin.readline()
    proton.data.advance_phase(session)
with proton.scope("tidy", metrics={"tokens": 64}):
    pass
proton.finalize()
"""


def test_a_job_is_watched_from_its_first_phase_to_its_end(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": folder_of_proton(),
        "PROTON_JOURNAL_INTERVAL": "0.1",
    }
    with subprocess.Popen(
        [sys.executable, "-c", _JOB],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as job:
        limit = threading.Timer(60, job.kill)
        limit.start()
        assert job.stdin is not None
        assert job.stdout is not None
        assert job.stdout.readline() == "warm_up\n"
        wait_for(
            lambda: (tmp_path / "run.partial").exists() and is_seen(tmp_path / "run"), "the journal"
        )
        opened = open_served(serve(tmp_path / "run").url)
        opened.page.wait_for_selector("text=warm_up")
        opened.page.wait_for_selector(".lines >> text=a profile in the making")
        for phase in ("train", "test"):
            job.stdin.write("\n")
            assert job.stdout.readline() == f"{phase}\n"
            opened.page.wait_for_selector(f"text={phase}")
        job.stdin.write("\n")
        assert job.wait(30) == 0
        limit.cancel()
    opened.page.wait_for_selector("text=tidy")
    opened.page.wait_for_selector(".lines", state="detached")
    assert opened.page.locator("text=warm_up").count() >= 1


def is_seen(path: Path) -> bool:
    """Whether something of a recording can be read."""
    from proton.errors import FormatError
    from proton.files.growing import find_recording, open_growing

    try:
        return isinstance(open_growing(find_recording(path)), TreeProfile)
    except FormatError:
        return False


def test_a_file_that_is_not_whole_is_a_line_above_the_last_that_was(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    path = tmp_path / "run.hatchet"
    replace(path, GPT)
    opened = open_served(serve(path).url)
    opened.page.wait_for_selector("text=● live")
    path.write_bytes(GPT[:500])
    opened.page.wait_for_selector(".lines >> text=it is still being written")
    assert "flash_fwd" in kernels(opened)
    replace(path, GPT.replace(b"flash_fwd", b"flash_new"))
    opened.page.wait_for_selector("td >> text=flash_new")
    assert opened.page.locator("text=it is still being written").count() == 0
    path.unlink()
    opened.page.wait_for_selector(".lines >> text=no such file any more")
    assert all("409" in problem for problem in opened.problems)
    opened.problems.clear()


def test_a_file_that_is_not_whole_at_first_opens_when_it_is(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    path = tmp_path / "run.hatchet"
    path.write_bytes(GPT[:500])
    opened = open_served(serve(path).url)
    (line,) = opened.texts("p.problem")
    assert "it is still being written: look again when it is whole" in line
    replace(path, GPT)
    opened.page.wait_for_selector("td >> text=flash_fwd")
    assert opened.texts("p.problem") == []
    opened.problems.clear()


def test_a_server_that_ends_is_said_and_one_that_comes_back_is_found(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    path = tmp_path / "run.hatchet"
    replace(path, GPT)
    server = serve(path)
    opened = open_served(server.url)
    opened.page.wait_for_selector("text=● live")
    server.shutdown()
    server.close()
    opened.page.wait_for_selector("text=● connection lost")
    opened.page.wait_for_selector(".lines >> text=connection to proton serve is lost")
    assert "flash_fwd" in kernels(opened)
    serve(path, port=server.port, token=server.key.token)
    opened.page.wait_for_selector("text=● live")
    assert opened.page.locator(".lines >> text=connection to proton serve").count() == 0
    assert all(LOST in problem or "ERR_" in problem for problem in opened.problems)
    opened.problems.clear()


def test_a_folder_is_a_list_that_leads_to_pages_and_comparisons(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    serve: Serve,
    open_served: Open,
    picture: Callable[[Opened, str], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("profiles").mkdir()
    sources = {"before.hatchet": "gpt2.hatchet", "after.hatchet": "gpt2.hatchet"}
    for at, (name, source) in enumerate({**sources, "trace.pftrace": "gpt2.pftrace"}.items()):
        path = Path("profiles") / name
        path.write_bytes((DATA / "h200" / source).read_bytes())
        os.utime(path, (1_800_000_000 + 3600 * at,) * 2)
    opened = open_served(serve(Path("profiles")).url, wait="table", size=(1000, 240))
    assert opened.texts("tbody a") == ["trace.pftrace", "after.hatchet", "before.hatchet"]
    opened.page.wait_for_selector("td >> text=36 520 >> nth=1")
    opened.page.wait_for_selector("td >> text=4 565")
    assert opened.texts("tbody td:nth-child(7)")[1:] == ["75.6 KiB"] * 2
    picture(opened, "folder")
    button = opened.page.locator("button.compare")
    assert button.is_disabled()
    opened.page.check("[aria-label='compare before.hatchet']")
    opened.page.check("[aria-label='compare after.hatchet']")
    replace(Path("profiles") / "new.hatchet", GPT)
    opened.page.wait_for_selector("text=new.hatchet")
    button.click()  # what was ticked still is
    opened.page.wait_for_selector("[role=tab]")
    compared = opened.texts("select[aria-label=profile] option")
    assert [Path(each).name for each in compared] == ["before.hatchet", "after.hatchet"]
    opened.page.click("header button.brand")
    opened.page.click("text=trace.pftrace")
    opened.page.wait_for_selector("[role=tab]")
    assert "trace.pftrace" in opened.page.title()


def test_the_list_of_a_folder_is_sorted_and_searched(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    for at, (name, source) in enumerate({"b": "gpt.hatchet", "a": "root_only.hatchet"}.items()):
        path = tmp_path / f"{name}.hatchet"
        path.write_bytes((DATA / source).read_bytes())
        os.utime(path, (1_800_000_000 - 3600 * at,) * 2)
    opened = open_served(serve(tmp_path).url, wait="table")
    assert opened.texts("tbody a") == ["b.hatchet", "a.hatchet"]
    opened.page.wait_for_selector("text=nothing was recorded")
    opened.page.click("th >> text=profile")
    assert opened.texts("tbody a") == ["a.hatchet", "b.hatchet"]
    opened.page.fill("[aria-label='search profiles']", "b.h")
    assert opened.texts("tbody a") == ["b.hatchet"]
    assert opened.texts("tbody td:nth-child(4)") == ["CUDA sm_90"]


def test_names_of_files_are_text_in_the_list(
    tmp_path: Path, serve: Serve, open_served: Open
) -> None:
    name = "<img src=x onerror=window.protonCanary=1>'\"&.hatchet"
    replace(tmp_path / name, GPT)
    opened = open_served(serve(tmp_path).url, wait="table")
    assert opened.texts("tbody a") == [name]
    assert opened.page.evaluate("window.protonCanary") is None
    opened.page.click("tbody a")
    opened.page.wait_for_selector("[role=tab]")
    assert opened.page.evaluate("window.protonCanary") is None


def test_another_name_for_this_machine_is_refused(
    tmp_path: Path, serve: Serve, browser: Browser
) -> None:
    """What a page of a stranger does to reach a local server: a name of its own that leads here."""
    replace(tmp_path / "run.hatchet", GPT)
    port = serve(tmp_path / "run.hatchet").server_address[1]
    strange = browser.browser_type.launch(
        executable_path=find_browser(),
        args=["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    try:
        page = strange.new_page()
        answer = page.goto(f"http://evil.example:{port}/data")
        assert answer is not None
        assert answer.status == 403
        assert "only localhost" in page.inner_text("body")
    finally:
        strange.close()


def test_the_token_leaves_the_address_and_lets_in_who_has_it_alone(
    tmp_path: Path, serve: Serve, open_served: Open, browser: Browser
) -> None:
    for name in ("a", "b"):
        replace(tmp_path / f"{name}.hatchet", GPT)
    server = serve(tmp_path)
    opened = open_served(server.url, wait="table")
    assert server.key.token not in opened.page.url
    opened.page.click("text=a.hatchet")
    opened.page.wait_for_selector("text=● live")
    assert "flash_fwd" in kernels(opened)
    stranger = browser.new_context()
    answer = stranger.new_page().goto(opened.page.url)
    assert answer is not None
    assert (answer.status, "flash_fwd" in answer.text()) == (403, False)
    stranger.close()


def test_pages_of_other_sites_get_nothing(tmp_path: Path, serve: Serve, browser: Browser) -> None:
    replace(tmp_path / "run.hatchet", GPT)
    mine, other = serve(tmp_path / "run.hatchet"), serve(tmp_path / "run.hatchet")
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(other.url)
    page.wait_for_selector("[role=tab]")
    found = page.evaluate(
        """async (url) => {
            const outcomes = []
            for (const mode of ["cors", "no-cors"]) {
                try { outcomes.push((await fetch(url.replace("?", "data?"), { mode })).status) }
                catch { outcomes.push("refused") }
            }
            const image = new Image()
            outcomes.push(await new Promise((resolve) => {
                image.onerror = () => resolve("refused"); image.onload = () => resolve("loaded")
                image.src = url
            }))
            return outcomes
        }""",
        mine.url,
    )
    context.close()
    assert found == ["refused", "refused", "refused"]
