"""Which libcupti is found, and which of several is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import candidates
from proton.backends.cupti.candidates import Candidate, chosen_of, find_candidates

TORCH = "site/nvidia/cu13/lib/libcupti.so.13"
TRITON = "site/triton/backends/nvidia/lib/cupti/libcupti.so.12"
TRITON_BLACKWELL = "site/triton/backends/nvidia/lib/cupti-blackwell/libcupti.so.13"
TOOLKIT = "local/cuda/extras/CUPTI/lib64/libcupti.so.13"


def found(knobs: Knobs | None = None) -> list[Candidate]:
    return find_candidates(knobs or Knobs())


def chosen(knobs: Knobs | None = None) -> Candidate:
    candidate = chosen_of(found(knobs))
    assert candidate is not None
    return candidate


def test_a_bare_machine_has_none(machine: Any) -> None:
    assert found() == []
    assert chosen_of([]) is None


def test_torchs_come_before_tritons_and_the_toolkits(machine: Any) -> None:
    paths = [str(machine.add_file(path)) for path in (TORCH, TRITON, TOOLKIT)]
    assert [each.path for each in found()] == paths
    assert chosen().origin == "torch's wheels"


def test_the_one_in_use_comes_before_all(machine: Any) -> None:
    machine.add_file(TORCH)
    machine.map_library(machine.add_file("elsewhere/libcupti.so.12"))
    assert chosen().origin == candidates.MAPPED


def test_one_that_is_in_use_and_installed_is_listed_once(machine: Any) -> None:
    machine.map_library(machine.add_file(TORCH))
    assert [each.origin for each in found()] == [candidates.MAPPED]


def test_others_of_the_same_family_are_not_taken_for_it(machine: Any) -> None:
    machine.map_library(machine.add_file("elsewhere/libcupti_static_helper.so"))
    assert found() == []


def test_exactly_one_is_chosen_and_every_one_has_a_verdict(machine: Any) -> None:
    for path in (TORCH, TRITON, TOOLKIT):
        machine.add_file(path)
    assert sum(each.is_chosen for each in found()) == 1
    assert all(each.verdict for each in found())


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_knob_wins_as_a_folder_and_as_a_file(machine: Any, as_folder: bool) -> None:
    machine.map_library(machine.add_file(TORCH))
    own = machine.add_file("own/libcupti.so.12")
    taken = chosen(Knobs(cupti_lib_dir=str(own.parent if as_folder else own)))
    assert (taken.path, taken.origin) == (str(own), "TRITON_CUPTI_LIB_PATH")


def test_a_knob_that_names_nothing_chooses_nothing(machine: Any) -> None:
    machine.add_file(TORCH)
    judged = found(Knobs(cupti_lib_dir=str(machine.root / "nowhere")))
    assert chosen_of(judged) is None
    assert [each.verdict for each in judged] == ["not there", "not taken: the knob names another"]


@pytest.mark.parametrize(
    ("capability", "origin"),
    [
        (100, "bundled with Triton for Blackwell"),
        (120, "bundled with Triton for Blackwell"),
        (90, "bundled with Triton"),
        (None, "bundled with Triton"),
    ],
)
def test_of_tritons_two_the_newest_gpu_decides(
    machine: Any, capability: int | None, origin: str
) -> None:
    machine.capability = capability
    machine.add_file(TRITON)
    machine.add_file(TRITON_BLACKWELL)
    assert chosen().origin == origin


def test_a_library_for_blackwell_says_why_it_is_not_for_an_older_gpu(machine: Any) -> None:
    machine.add_file(TRITON_BLACKWELL)
    (only,) = found()
    assert only.verdict == (
        "not taken: it is for GPUs of compute capability 10.0 or later, the newest here has 9.0"
    )
    machine.capability = None
    assert found()[0].verdict.endswith("or later, none here is known")


def test_an_older_driver_has_even_new_gpus_take_tritons_other_one(machine: Any) -> None:
    machine.capability = 100
    machine.add_driver("570.1.2")
    machine.add_file(TRITON)
    machine.add_file(TRITON_BLACKWELL)
    assert chosen().origin == "bundled with Triton"


def test_nobody_is_asked_for_the_gpu_while_the_answer_changes_nothing(machine: Any) -> None:
    for path in (TORCH, TRITON, TRITON_BLACKWELL):
        machine.add_file(path)
    assert chosen().origin == "torch's wheels"
    chosen(Knobs(cupti_lib_dir=str(machine.root / TRITON)))
    assert machine.questions == 0


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_knob_for_blackwell_wins_over_all_on_such_a_gpu(machine: Any, as_folder: bool) -> None:
    machine.capability = 100
    machine.map_library(machine.add_file(TORCH))
    other, own = machine.add_file("other/libcupti.so.12"), machine.add_file("own/libcupti.so.13")
    knobs = Knobs(
        cupti_lib_dir=str(other),
        cupti_lib_blackwell_dir=str(own.parent if as_folder else own),
    )
    taken = chosen(knobs)
    assert (taken.path, taken.origin) == (str(own), "TRITON_CUPTI_LIB_BLACKWELL_PATH")
    assert taken.is_named
    others = [each for each in found(knobs) if not each.is_chosen]
    assert len(others) == 2
    assert all(each.verdict == "not taken: the knob names another" for each in others)
    assert machine.questions == 2  # once each time


def test_the_knob_for_blackwell_is_nothing_to_an_older_gpu(machine: Any) -> None:
    machine.add_file(TORCH)
    own = machine.add_file("own/libcupti.so.13")
    knobs = Knobs(cupti_lib_blackwell_dir=str(own.parent))
    assert chosen(knobs).origin == "torch's wheels"
    assert found(knobs)[-1].path == str(own)
    assert not found(knobs)[-1].is_named


def test_one_folder_may_be_named_for_all_gpus_and_for_blackwell(machine: Any) -> None:
    own = machine.add_file("own/libcupti.so.13")
    knobs = Knobs(cupti_lib_dir=str(own), cupti_lib_blackwell_dir=str(own.parent))
    assert chosen(knobs).origin == "TRITON_CUPTI_LIB_PATH"
    machine.capability = 100
    assert chosen(knobs).origin == "TRITON_CUPTI_LIB_BLACKWELL_PATH"


def test_one_that_is_too_new_for_the_driver_is_passed_over(machine: Any) -> None:
    machine.add_driver("550.1.2")
    machine.add_file(TORCH)
    machine.add_file(TRITON)
    assert found()[0].verdict == "too new: it is of CUDA 13, the driver serves up to CUDA 12"
    assert chosen().origin == "bundled with Triton"


def test_of_two_wheels_the_one_that_torch_needs_comes_first(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_torch_cuda_major", lambda: 13)
    machine.add_file("site/nvidia/cuda_cupti/lib/libcupti.so.12")
    machine.add_file(TORCH)
    assert chosen().cuda_major == 13


def test_the_toolkit_of_the_environment_is_searched(machine: Any) -> None:
    path = machine.add_file("opt/cuda/lib64/libcupti.so.12")
    assert chosen(Knobs(cuda_home=str(machine.root / "opt/cuda"))).path == str(path)


def test_the_loaders_cache_comes_last(machine: Any) -> None:
    path = machine.add_file("odd/libcupti.so.12")
    (machine.root / "ld.so.cache").write_bytes(b"\0" + str(path).encode() + b"\0")
    assert chosen().origin == "the loader's cache"


def test_the_version_is_the_longest_name_in_the_folder(machine: Any) -> None:
    path = machine.add_file(TRITON)
    (path.parent / "libcupti.so.2025.1.1").symlink_to(path)
    assert chosen().version == "2025.1.1"


@pytest.mark.parametrize(
    ("name", "major"),
    [
        ("libcupti.so.12", 12),
        ("libcupti.so.13", 13),
        ("libcupti.so.2025.1.1", 12),
        ("libcupti.so.2025.3.0", 13),
        ("libcupti.so.2022.3.0", 11),
        ("libcupti.so", None),
    ],
)
def test_the_major_version_of_cuda_comes_from_the_name(name: str, major: int | None) -> None:
    assert Candidate(f"/nowhere/{name}", "x", True, None).cuda_major == major


def test_a_candidate_says_everything_in_one_line(machine: Any) -> None:
    path = machine.add_file(TRITON)
    assert str(chosen()) == (
        f"{path} 12 (bundled with Triton): chosen: Triton brings it, and nothing else is loaded or "
        "installed before it"
    )


def test_this_process_has_no_libcupti_of_its_own() -> None:
    assert isinstance(candidates.mapped_libraries(), list)
    assert not any(Path(path).is_dir() for path in candidates.mapped_libraries())
