import pytest

from proton.backends.common.base import BACKENDS, load_backend, make_backend
from proton.backends.common.knobs import Knobs
from proton.backends.cupti.backend import CuptiBackend
from proton.backends.interpreter import InterpreterBackend
from proton.errors import BackendUnavailable, UsageError


def test_a_backend_is_found_by_its_name_in_any_case() -> None:
    assert load_backend("Interpreter") is InterpreterBackend


def test_an_unknown_backend_lists_the_choices() -> None:
    with pytest.raises(UsageError, match=r"unknown backend 'cuda'; choose one of 'cupti', "):
        load_backend("cuda")


@pytest.mark.parametrize("name", ["rocprofiler"])
def test_a_backend_that_is_not_built_yet_says_so_and_names_the_remedy(name: str) -> None:
    assert name in BACKENDS
    with pytest.raises(
        BackendUnavailable, match=f"'{name}' is unavailable: .*backend='interpreter'"
    ):
        load_backend(name)


def test_a_backend_that_takes_knobs_gets_them() -> None:
    knobs = Knobs(cuda_library="libfake.so")
    backend = make_backend("cupti", "", knobs)
    assert isinstance(backend, CuptiBackend)
    assert backend._knobs is knobs


def test_a_backend_that_takes_none_gets_its_mode_alone() -> None:
    assert isinstance(make_backend("interpreter", "", Knobs()), InterpreterBackend)
