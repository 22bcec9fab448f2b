import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir import nesting as rules
from proton.inkernel.ir.carriers import Carrier, record
from proton.inkernel.ir.nesting import verify
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


def test_what_is_right_passes() -> None:
    _verify("tt.return")
    _verify(
        Carrier("init"),
        _start("a"),
        "scf.for %i = %a to %b step %c : i32 {",
        _start("b"),
        record("mark", "m"),
        _end("b"),
        "}",
        _end("a"),
        Carrier("finalize"),
        "tt.return",
    )


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((Carrier("init"), Carrier("init"), Carrier("finalize"), "tt.return"), "is 2 times in k"),
        (("gpu.barrier", Carrier("init"), Carrier("finalize"), "tt.return"), "is not first in k"),
        ((Carrier("init"), "tt.return"), "k.ttgir:4: this return has no proton.finalize directly"),
        ((Carrier("init"), Carrier("finalize"), "gpu.barrier", "tt.return"), "has no proton.fina"),
    ],
)
def test_init_and_finalize_have_their_places(lines: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InstrumentationError, match=problem):
        _verify(*lines)


def test_init_is_for_kernels() -> None:
    with pytest.raises(InstrumentationError, match=r"proton.init is in f, which is no kernel"):
        _verify(Carrier("init"), "tt.return", header="tt.func private @f()")


def test_ids_reach_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_NAMES", 2)
    _verify(record("mark", "a"), record("mark", "b"), record("mark", "a"))
    with pytest.raises(InstrumentationError, match="3 names are recorded and ids reach to 2"):
        _verify(record("mark", "a"), record("mark", "b"), record("mark", "c"))
