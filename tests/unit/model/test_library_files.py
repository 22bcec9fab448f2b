"""Which files are a library's, wherever it is installed."""

from __future__ import annotations

import sysconfig

import pytest

from proton.model.library_files import is_library_file


@pytest.mark.parametrize(
    "file",
    [
        "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
        f"{sysconfig.get_path('stdlib')}/threading.py",
        "/home/me/src/pytorch/torch/nn/modules/linear.py",
        "<frozen importlib._bootstrap>",
    ],
)
def test_files_of_packages_and_the_standard_library_are(file: str) -> None:
    assert is_library_file(file)


@pytest.mark.parametrize("file", ["/home/me/train.py", "model.py", "<string>", "torch/train.py"])
def test_files_of_the_program_are_not(file: str) -> None:
    assert not is_library_file(file)
