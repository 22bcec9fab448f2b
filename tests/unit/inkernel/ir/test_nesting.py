import pytest

from proton.errors import InstrumentationError, ScopeMismatch
from proton.inkernel.ir.carriers import Carrier, record
from proton.inkernel.ir.nesting import carrier_of, is_conditional, overlapping_names, verify
from proton.inkernel.ir.parse import read_module


def _kernel(*lines: str | Carrier, header: str = "tt.func public @k()") -> str:
    texts = [
        line.to_ttgir(f"%r{at}") if isinstance(line, Carrier) else line
        for at, line in enumerate(lines)
    ]
    return f"module {{\n  {header} {{\n" + "\n".join(texts) + "\n  }\n}"


def _verify(*lines: str | Carrier, header: str = "tt.func public @k()") -> None:
    verify(read_module(_kernel(*lines, header=header), "k.ttgir"))


def _start(name: str, **attributes: str) -> Carrier:
    return record("start", name, **attributes)


def _end(name: str, **attributes: str) -> Carrier:
    return record("end", name, **attributes)


def test_events_need_not_nest() -> None:
    _verify(_end("e", kind="event"), _start("a"), _start("e", kind="event"), _end("a"), "tt.return")


def test_records_that_are_conditional_by_machine_nest_with_the_others() -> None:
    _verify("scf.if %p {", _start("a"), "}", "scf.if %p {", _end("a"), "}", "tt.return")
    with pytest.raises(ScopeMismatch, match=r"k.ttgir:4: 'a' is started here and not ended"):
        _verify("scf.if %p {", _start("a"), "}", "tt.return")


def test_an_if_with_more_in_it_is_the_users_own() -> None:
    with pytest.raises(ScopeMismatch, match="'a' is started here and not ended in the same block"):
        _verify("scf.if %p {", _start("a"), "gpu.barrier", "}", _end("a"), "tt.return")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((_end("a"),), "k.ttgir:3: 'a' is ended here and was not started in this block"),
        ((_start("a"),), "k.ttgir:3: 'a' is started here and not ended in the same block"),
        (
            (_start("a"), _start("b"), _end("a")),
            "k.ttgir:4: 'b' is started here and not ended in the same block",
        ),
        (
            (_start("a"), _end("a"), _end("a")),
            "k.ttgir:5: 'a' is ended here and was not started in this block",
        ),
    ],
)
def test_a_start_without_an_end_and_an_end_without_a_start_are_refused(
    lines: tuple[Carrier, ...], problem: str
) -> None:
    with pytest.raises(ScopeMismatch, match=problem):
        _verify(*lines, "tt.return")


def _overlapping(*lines: str | Carrier) -> frozenset[str]:
    return overlapping_names(read_module(_kernel(*lines), "k.ttgir"))


def test_regions_that_overlap_are_named_and_those_that_nest_are_not() -> None:
    _verify(_start("a"), _start("b"), _end("a"), _end("b"), "tt.return")
    around = (_start("all"), _start("a"), _start("b"))
    inside = (_start("in"), _end("in"))
    ends = (_end("a"), _end("b"), _end("all"), "tt.return")
    assert _overlapping(*around, *inside, *ends) == {"a", "b"}
    assert _overlapping(_start("a"), _start("b"), _end("b"), _end("a"), "tt.return") == set()


def test_regions_that_overlap_on_one_path_only_are_named() -> None:
    split = "cf.cond_br %c, ^bb1, ^bb2"
    left = ("^bb1:", _end("a"), _end("b"), "cf.br ^bb3")
    right = ("^bb2:", _end("b"), _end("a"), "cf.br ^bb3")
    found = _overlapping(_start("a"), _start("b"), split, *left, *right, "^bb3:", "tt.return")
    assert found == {"a", "b"}


def test_a_region_begun_twice_ends_the_last_one_first() -> None:
    _verify(_start("a"), _start("a"), _end("a"), _end("a"), "tt.return")
    assert _overlapping(_start("a"), _start("a"), _end("a"), _end("a"), "tt.return") == set()


def test_scopes_may_cross_blocks_where_every_path_agrees() -> None:
    split = "cf.cond_br %c, ^bb1, ^bb2"
    _verify(_start("a"), split, "^bb1:", _end("a"), "tt.return", "^bb2:", _end("a"), "tt.return")
    with pytest.raises(ScopeMismatch, match="begun are none here, begun are 'a' elsewhere"):
        _verify(
            *(_start("a"), split, "^bb1:", _end("a"), "cf.br ^bb3", "^bb2:", "cf.br ^bb3"),
            *("^bb3:", _end("a"), "tt.return"),
        )


def test_a_loop_between_blocks_is_followed_once() -> None:
    _verify(_start("a"), "cf.br ^bb1", "^bb1:", "cf.cond_br %c, ^bb1, ^bb2", "^bb2:", _end("a"))


def test_what_cannot_be_read_is_refused_with_its_line() -> None:
    with pytest.raises(InstrumentationError, match=r"k.ttgir:3: cannot read 'proton.record x'"):
        _verify("proton.record x")


def test_an_if_with_results_is_not_conditional_by_machine() -> None:
    text = _kernel("%v = scf.if %p -> (i32) {", _start("a"), "} else {", "}")
    ops = list(read_module(text).walk())
    assert not is_conditional(ops[2])
    assert carrier_of(ops[2]) is None


def test_records_may_share_an_if_that_others_are_under_too() -> None:
    shared = ("scf.if %p {", _start("a"), "}", "%v = scf.if %p -> (i32) {", _end("a"), "x.y")
    _verify(*shared, "scf.yield", "} else {", "scf.yield", "}", "tt.return")
    _verify(_start("b"), *shared, "scf.yield", "} else {", "scf.yield", "}", _end("b"))
    with pytest.raises(ScopeMismatch, match="'a' is ended here and was not started in this block"):
        _verify(*shared[:3], shared[3].replace("%p", "%q"), *shared[4:], "} else {", "}")
    with pytest.raises(ScopeMismatch, match="'a' is ended here and was not started in this block"):
        _verify(*shared, "} else {", _end("a"), "}")


def test_both_ways_of_an_if_may_end_what_was_begun_before_it() -> None:
    _verify(_start("a"), "scf.if %p {", _end("a"), "x.y", "} else {", _end("a"), "}", "tt.return")
    with pytest.raises(ScopeMismatch, match="'a' is ended here"):
        _verify(_start("a"), "scf.if %p {", _end("a"), "x.y", "} else {", "}", "tt.return")


def test_records_in_guards_inside_an_if_end_what_was_begun_before_it() -> None:
    end = ("scf.if %g {", _end("a"), "}")
    _verify(_start("a"), "scf.if %p {", "x.y", *end, "} else {", "x.y", *end, "}", "tt.return")
    with pytest.raises(ScopeMismatch, match="'a' is ended here"):
        _verify(_start("a"), "scf.if %p {", "x.y", *end, "} else {", "x.y", "}", "tt.return")


def test_so_many_conditions_that_paths_cannot_be_counted_are_refused() -> None:
    lines: list[str | Carrier] = []
    for number in range(7):
        lines += [f"scf.if %c{number} {{", _start("a"), "x.y", "}"]
        lines += [f"scf.if %c{number} {{", _end("a"), "x.y", "}"]
    _verify(*lines[: 6 * 8])
    with pytest.raises(ScopeMismatch, match="'a' is started here"):
        _verify(*lines)
