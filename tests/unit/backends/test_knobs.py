"""The knobs that backends get."""

from proton.backends.knobs import KNOWN_BUFFER_BYTES, Knobs


def test_knobs_nobody_set_leave_the_choice_to_the_backend() -> None:
    knobs = Knobs()
    assert knobs.profile_buffer_size == KNOWN_BUFFER_BYTES
    assert (knobs.cupti_lib_dir, knobs.cuda_library, knobs.cuda_home) == (None, None, None)
