"""Names for people: only those that differ from the file's are in the part."""

from __future__ import annotations

from proton.render.page.names import names_part
from proton.render.page.pack import Columns
from tests.support.profiles import profile_of


def test_plain_names_need_no_part() -> None:
    assert names_part(profile_of([(0, "ROOT", {}), (1, "step", {})]), Columns()) is None


def test_cpp_symbols_are_demangled_short_and_whole() -> None:
    symbol = "_Z6kernelIfEvPT_i"
    part = names_part(profile_of([(0, "ROOT", {}), (1, symbol, {})]), Columns())
    assert part == {symbol: ["kernel<float>", "void kernel<float>(float*, int)"]}


def test_what_cannot_be_seen_is_written_out() -> None:
    part = names_part(profile_of([(0, "ROOT", {}), (1, "a\u202eb", {})]), Columns())
    assert part == {"a\u202eb": ["a\\u202eb", "a\\u202eb"]}
