"""The error classes: what they derive from, and the texts they make."""

import pytest

from proton import errors


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (errors.UsageError, ValueError),
        (errors.SessionNotFound, IndexError),
        (errors.SessionNotFound, ValueError),
        (errors.PhaseNotFound, IndexError),
        (errors.ScopeMismatch, ValueError),
        (errors.ScopeMismatch, RuntimeError),
        (errors.MetricTypeError, TypeError),
        (errors.DataKindError, RuntimeError),
        (errors.BackendUnavailable, RuntimeError),
        (errors.FormatError, ValueError),
        (errors.WriteError, OSError),
    ],
)
def test_an_error_is_also_the_builtin_that_users_catch(
    ours: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(ours, builtin)
    assert issubclass(ours, errors.ProtonError)


def test_an_unknown_choice_is_named_and_the_choices_are_listed_in_order() -> None:
    error = errors.UsageError.unknown("color", "mauve", choices=["red", "blue"])
    assert str(error) == "unknown color 'mauve'; choose one of 'blue', 'red'"


def test_an_unavailable_backend_names_reason_and_remedy() -> None:
    error = errors.BackendUnavailable("cupti", reason="no driver", remedy="install one")
    assert str(error) == "backend 'cupti' is unavailable: no driver; install one"


def test_a_warning_of_ours_is_a_user_warning() -> None:
    assert issubclass(errors.ProtonWarning, UserWarning)


def test_what_is_mistyped_gets_the_nearest_choice() -> None:
    error = errors.UsageError.unknown("backend", "cuptii", choices=["cupti", "interpreter"])
    assert str(error) == (
        "unknown backend 'cuptii'; choose one of 'cupti', 'interpreter' (did you mean 'cupti'?)"
    )
    assert errors.did_you_mean("x", ["cupti"]) == ""
