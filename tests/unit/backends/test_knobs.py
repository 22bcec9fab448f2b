"""The knobs that backends get."""

from proton.backends.common.knobs import Knobs


def test_knobs_nobody_set_leave_the_choice_to_the_backend() -> None:
    knobs = Knobs()
    assert (knobs.profile_buffer_size, knobs.profile_metric_buffer_size) == (0, 0)
    assert (knobs.cupti_lib_dir, knobs.cuda_library, knobs.cuda_home) == (None, None, None)
