"""Tests of the names and the environment of children; processes are started elsewhere."""

from __future__ import annotations

import os

from proton.cli.children import child_name


def test_a_child_adds_its_process_id() -> None:
    assert child_name("/a/run") == f"/a/run.{os.getpid()}"


def test_a_name_that_has_the_process_id_in_it_stays() -> None:
    assert child_name("/a/run.{pid}") == "/a/run.{pid}"


def test_a_program_that_replaced_another_does_not_take_its_name() -> None:
    assert child_name("run", 2) == f"run.{os.getpid()}.2"


def test_a_suffix_stays_behind_the_process_id() -> None:
    assert child_name("run.hatchet", 2) == f"run.{os.getpid()}.2.hatchet"
