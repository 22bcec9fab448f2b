"""Opening the libraries: what is opened, and what is said where that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from proton import _native
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import hub
from proton.errors import BackendUnavailable


class FakeHub:
    """Stands for `_native.Cupti`."""

    loaded: tuple[str, str] | None = None
    refusal: BackendUnavailable | None = None

    @classmethod
    def is_loaded(cls) -> bool:
        return cls.loaded is not None

    @classmethod
    def load(cls, cupti_path: str, cuda_path: str) -> int:
        if cls.refusal is not None:
            raise cls.refusal
        cls.loaded = cupti_path, cuda_path
        return 28


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> type[FakeHub]:
    """A hub that loads nothing."""
    fake = type("Own", (FakeHub,), {})
    monkeypatch.setattr(_native, "Cupti", fake, raising=False)
    return fake


def test_the_chosen_libcupti_and_the_driver_are_opened(native: Any, machine: Any) -> None:
    machine.add_driver()
    cuda = machine.add_cuda_library()
    cupti = machine.add_file("site/nvidia/cu13/lib/libcupti.so.13")
    hub.open_hub(Knobs())
    assert native.loaded == (str(cupti), cuda)


def test_they_are_opened_once(native: Any) -> None:
    native.loaded = ("a", "b")
    hub.open_hub(Knobs(cuda_library="/nowhere"))
    assert native.loaded == ("a", "b")


def test_the_environment_names_another_driver(native: Any, machine: Any) -> None:
    fake = str(machine.add_file("fake/libcupti.so"))
    hub.open_hub(Knobs(cuda_library=fake, cupti_lib_dir=fake))
    assert native.loaded == (fake, fake)


def test_no_driver_is_said_with_the_remedy(native: Any, machine: Any) -> None:
    with pytest.raises(BackendUnavailable, match=r"no NVIDIA driver; install it, .*'interpreter'"):
        hub.open_hub(Knobs())


def test_an_old_driver_is_said_with_its_version(native: Any, machine: Any) -> None:
    machine.add_driver("470.82.1")
    machine.add_cuda_library()
    with pytest.raises(BackendUnavailable, match=r"470\.82\.1 is too old; install driver 525"):
        hub.open_hub(Knobs())


def test_no_libcupti_is_said_with_the_remedy(native: Any, machine: Any) -> None:
    machine.add_driver()
    machine.add_cuda_library()
    with pytest.raises(BackendUnavailable, match="no libcupti was found; pip install nvidia-cuda"):
        hub.open_hub(Knobs())


def test_a_libcupti_that_does_not_match_is_said(native: Any, machine: Any) -> None:
    machine.add_driver("550.1.2")
    machine.add_cuda_library()
    machine.add_file("site/nvidia/cu13/lib/libcupti.so.13")
    with pytest.raises(BackendUnavailable, match=r"no libcupti suits the driver: .*too new"):
        hub.open_hub(Knobs())


def test_a_knob_that_names_nothing_is_said(native: Any, machine: Any) -> None:
    machine.add_driver()
    machine.add_cuda_library()
    with pytest.raises(BackendUnavailable, match="TRITON_CUPTI_LIB_PATH='/nowhere' holds no libcu"):
        hub.open_hub(Knobs(cupti_lib_dir="/nowhere"))


def test_a_folder_without_libcupti_is_said_with_what_was_looked_for(
    native: Any, machine: Any
) -> None:
    machine.add_driver()
    machine.add_cuda_library()
    folder = machine.add_file("own/readme.txt").parent
    with pytest.raises(BackendUnavailable) as caught:
        hub.open_hub(Knobs(cupti_lib_dir=str(folder)))
    assert str(caught.value).endswith(
        f"TRITON_CUPTI_LIB_PATH={str(folder)!r} holds no libcupti that can be used "
        f"({folder}/libcupti.so: not there); name a folder that has one, or unset it; "
        "`proton doctor` lists those there are"
    )


def test_a_named_libcupti_that_is_too_new_is_said_with_the_versions(
    native: Any, machine: Any
) -> None:
    machine.add_driver("550.1.2")
    machine.add_cuda_library()
    path = machine.add_file("own/libcupti.so.13")
    with pytest.raises(BackendUnavailable, match=r"\(.*too new: it is of CUDA 13, .*12\); name a"):
        hub.open_hub(Knobs(cupti_lib_dir=str(path)))


def test_the_knob_for_blackwell_is_named_where_it_leaves_no_choice(
    native: Any, machine: Any
) -> None:
    machine.add_driver()
    machine.add_cuda_library()
    machine.add_file("site/nvidia/cu13/lib/libcupti.so.13")
    machine.capability = 100
    with pytest.raises(BackendUnavailable, match="TRITON_CUPTI_LIB_BLACKWELL_PATH='/nowhere' hold"):
        hub.open_hub(Knobs(cupti_lib_blackwell_dir="/nowhere"))
    machine.capability = 90
    hub.open_hub(Knobs(cupti_lib_blackwell_dir="/nowhere"))
    assert native.loaded is not None


def test_what_the_library_refuses_keeps_the_library_in_the_note(native: Any, machine: Any) -> None:
    native.refusal = BackendUnavailable("cupti", reason="x", remedy="y")
    path = machine.add_file("fake/libcupti.so")
    with pytest.raises(BackendUnavailable) as caught:
        hub.open_hub(Knobs(cuda_library="libfake.so", cupti_lib_dir=str(path)))
    assert str(path) in caught.value.__notes__[0]


def test_a_second_tool_is_told_by_its_number() -> None:
    error = BackendUnavailable("cupti", reason="x", remedy="y")
    assert not hub.is_held(error)
    error.code = 39  # type: ignore[attr-defined]
    assert hub.is_held(error)
