"""Launch metadata on its way from the kernel to the sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import UsageError
from proton.hooks import HookManager, LaunchHook
from proton.hooks.launch import enabled, in_hook, op_name
from proton.hooks.launch import id as launch_id


class Metadata:
    """Like Triton's LazyDict: what the user's function returns is added when first asked for."""

    def __init__(self, name: str, function: Callable[[], Any] = dict) -> None:
        self.data: dict[str, Any] = {"name": name, "function": 11, "stream": 22}
        self.function: Callable[[], Any] | None = function

    def get(self) -> dict[str, Any]:
        if self.function is not None:
            self.data = self.data | self.function()
            self.function = None
        return self.data


@pytest.fixture
def launch(fake_gpu: Any, tmp_cwd: Path) -> Callable[..., None]:
    def launch_one(name: str, metadata: Callable[[], Any] = dict) -> None:
        lazy = Metadata(name, metadata)
        HookManager.enter(lazy)
        fake_gpu.launch(name)
        HookManager.exit(lazy)

    return launch_one


@pytest.fixture
def session(launch: object) -> Iterator[int]:
    opened = proton.start("run", hook="triton")
    assert opened is not None
    yield opened
    LaunchHook().configure()
    proton.finalize(opened)


def test_metadata_renames_the_kernel_and_adds_metrics(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    launch("kernel", lambda: {"name": "matmul_8x8", "flops": 4, "bytes": 16})
    profile = profile_of(proton.data.get(session))
    assert profile.paths() == ["matmul_8x8"]
    assert profile.metrics("matmul_8x8")["flops"] == 4.0
    assert profile.metrics("matmul_8x8")["bytes"] == 16
    assert profile.losses == {}


def test_metadata_is_not_asked_for_without_the_hook(
    launch: Callable[..., None], profile_of: Any
) -> None:
    session = proton.start("plain")
    launch("kernel", lambda: {"name": "other", "flops": 1})
    assert profile_of(proton.data.get(session)).paths() == ["kernel"]
    proton.finalize(session)


def test_a_session_without_the_hook_keeps_the_kernels_own_name(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    plain = proton.start("plain")
    launch("kernel", lambda: {"name": "renamed"})
    assert profile_of(proton.data.get(plain)).paths() == ["kernel"]
    assert profile_of(proton.data.get(session)).paths() == ["renamed"]
    proton.finalize(plain)


def fail() -> dict[str, Any]:
    raise ZeroDivisionError("no shape")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (fail, "failed with ZeroDivisionError: no shape"),
        (lambda: None, "failed with TypeError"),
        (lambda: 7, "failed with TypeError"),
        (lambda: {"stream": 3}, "uses the reserved key 'stream'"),
        (lambda: {"function": 3}, "uses the reserved key 'function'"),
        (lambda: {"name": 3}, "gave the name 3, which is no text"),
        (lambda: {"flops": float("nan")}, "gave a metric that cannot be recorded: "),
    ],
)
def test_bad_metadata_lets_the_launch_go_on_and_is_told(
    metadata: Callable[[], Any],
    words: str,
    launch: Callable[..., None],
    session: int,
    profile_of: Any,
) -> None:
    launch("kernel", metadata)
    profile = profile_of(proton.data.get(session))
    assert profile.metrics("kernel")["count"] == 1
    assert profile.losses == {"launch_metadata_error": 1}
    assert any(
        f"launch metadata of kernel 'kernel' {words}" in w for w in profile.header["warnings"]
    )


def test_one_bad_metric_does_not_cost_the_others(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    launch("kernel", lambda: {"x": 1, "y": 2**70})
    metrics = profile_of(proton.data.get(session)).metrics("kernel")
    assert metrics["x"] == 1
    assert "y" not in metrics


def test_values_that_are_no_numbers_are_dropped_and_counted(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    launch("kernel", lambda: {"x": 1, "grid": object(), "dtype": "fp16"})
    profile = profile_of(proton.data.get(session))
    assert profile.metrics("kernel")["x"] == 1
    assert profile.losses == {"launch_metadata_value": 2}


def test_only_included_kernels_are_asked(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    LaunchHook().configure(include="mat")
    launch("matmul", lambda: {"name": "mat a"})
    launch("softmat", lambda: {"name": "b"})
    assert profile_of(proton.data.get(session)).paths() == ["mat a", "softmat"]


@pytest.mark.parametrize(
    ("filters", "wanted"), [({"include": "k"}, "kept"), ({"exclude": "dropped"}, "kept")]
)
def test_the_name_that_the_metadata_gives_is_looked_at_too(
    launch: Callable[..., None],
    session: int,
    profile_of: Any,
    filters: dict[str, str],
    wanted: str,
) -> None:
    LaunchHook().configure(**filters)
    launch("kernel", lambda: {"name": wanted, "x": 1})
    launch("kernel", lambda: {"name": "dropped", "x": 1})
    profile = profile_of(proton.data.get(session))
    assert sorted(profile.paths()) == [wanted, "kernel"]
    assert profile.metrics(wanted)["x"] == 1
    assert "x" not in profile.metrics("kernel")
    assert not enabled.get()


def test_excluded_kernels_are_not_asked(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    LaunchHook().configure(exclude="soft")
    launch("matmul", lambda: {"name": "a"})
    launch("softmat", lambda: {"name": "b"})
    assert profile_of(proton.data.get(session)).paths() == ["a", "softmat"]


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_bad_regular_expression_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=rf"{option}='\(' is not a regular expression: "):
        LaunchHook().configure(**{option: "("})


def test_work_for_the_metadata_is_labelled_and_not_hooked_again(
    launch: Callable[..., None], session: int, profile_of: Any
) -> None:
    def metadata() -> dict[str, Any]:
        launch("helper", lambda: {"name": "wrong"})
        return {"name": "renamed"}

    launch("kernel", metadata)
    paths = profile_of(proton.data.get(session)).paths()
    assert "__proton_launch_metadata/kernel/helper" in paths
    assert "renamed" in paths
    assert not any("wrong" in path for path in paths)


def test_the_launch_under_way_can_be_looked_at(launch: Callable[..., None], session: int) -> None:
    seen = []

    def metadata() -> dict[str, Any]:
        seen.append((op_name.get(), in_hook.get()))
        return {}

    launch("kernel", metadata)
    assert seen == [("kernel", True)]
    assert (op_name.get(), in_hook.get(), enabled.get()) == ("kernel", False, False)


def test_the_last_launch_can_be_looked_at_and_no_other_has_its_number(
    launch: Callable[..., None], session: int
) -> None:
    seen = []
    for name in ("first", "second", "second"):
        launch("kernel", lambda name=name: {"name": name})
        seen.append((op_name.get(), launch_id.get()))
    assert [name for name, _ in seen] == ["first", "second", "second"]
    assert len({number for _, number in seen}) == 3
    assert all(isinstance(number, int) for _, number in seen)


def test_there_is_one_launch_hook() -> None:
    assert LaunchHook() is LaunchHook()
    assert LaunchHook().priority == 100


def test_the_hook_may_be_given_as_an_instance(launch: Callable[..., None], profile_of: Any) -> None:
    session = proton.start("run", hook=LaunchHook())
    launch("kernel", lambda: {"name": "renamed"})
    assert profile_of(proton.data.get(session)).paths() == ["renamed"]
    proton.finalize(session)


def test_the_metadata_of_a_launch_that_failed_does_not_stick_to_the_next(
    launch: Callable[..., None], session: int, fake_gpu: Any, profile_of: Any
) -> None:
    HookManager.enter(Metadata("failing", lambda: {"name": "stale"}))  # and no exit
    launch("kernel")
    fake_gpu.launch("unhooked")
    assert profile_of(proton.data.get(session)).paths() == ["kernel", "unhooked"]
