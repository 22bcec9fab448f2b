"""Names for people: only those that differ from the file's are in the part."""

from __future__ import annotations

from proton.render.page.names import names_part
from tests.support.pages import plain
from tests.support.profiles import profile_of


def test_plain_names_need_no_part() -> None:
    assert plain(names_part(profile_of([(0, "ROOT", {}), (1, "step", {})]))) == {}


def test_cpp_symbols_are_demangled_short_and_whole() -> None:
    symbol = "_Z6kernelIfEvPT_i"
    part = plain(names_part(profile_of([(0, "ROOT", {}), (1, symbol, {})])))
    assert part == {symbol: ["kernel<float>", "void kernel<float>(float*, int)"]}


def test_what_cannot_be_seen_is_written_out() -> None:
    part = plain(names_part(profile_of([(0, "ROOT", {}), (1, "a\u202eb", {})])))
    assert part == {"a\u202eb": ["a\\u202eb", "a\\u202eb"]}


def test_names_that_would_look_the_same_are_whole() -> None:
    def symbol(last: str) -> str:
        words = [f"Argument{at:032}" for at in range(12)] + [last]
        return f"_Z1fI{''.join(f'{len(word)}{word}' for word in words)}Evv"

    first, second = symbol("One"), symbol("Two")
    part = plain(names_part(profile_of([(0, "ROOT", {}), (1, first, {}), (1, second, {})])))
    assert part is not None
    assert "11, One>" in part[first][0]
    assert "11, Two>" in part[second][0]
    (alone,) = (plain(names_part(profile_of([(0, "ROOT", {}), (1, first, {})]))) or {}).values()
    assert alone[0].endswith("…>")


def test_a_name_of_blanks_is_quoted() -> None:
    part = names_part(profile_of([(0, "ROOT", {}), (1, "  ", {})]))
    assert part["  "] == ('"  "', '"  "')
