"""The stub of the native module, which is in git, says what the built module has."""

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from proton import _native

STUB = ast.parse((Path(__file__).resolve().parents[2] / "src/proton/_native.pyi").read_text())


# stubtest on how nanobind and the C-API build these classes, which no stub can say; and on members
# of results that the stub calls Final, which stubtest does not know to be read-only.
ALLOWED = """proton._native.Cubin
proton._native.Session
proton._native.Scope(.__init__)?
proton._native.DeviceClock
proton._native.TraceCursor
proton._native.(cubin_section|demangle|short_name|step|encode_perfetto)
proton._native.(Columns|Cupti|DeviceBuffer|DeviceMemory|DeviceValue|InKernel|Nvtx|Termination)(\\..*)?
proton._native.(CountedSites|DecodedBuffer|HeatMap)(.__init__)?
proton._native.(RegionSummary|SiteTotal|TensorHeat|WarpSummary)(\\..*)?
proton._native.(EventScanner|PacketScanner)(.__init__)?
proton._native.TorchObserver(\\..*)?
"""


def names(body: list[ast.stmt]) -> set[str]:
    """What a stub's body declares, private names and type variables left out."""
    found = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    found |= {
        node.target.id
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return {name for name in found if not name.startswith("_")}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_module_and_its_stub_have_the_same_names() -> None:
    assert public(_native) == names(STUB.body)


@pytest.mark.parametrize(
    "declared",
    [n for n in STUB.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")],
    ids=lambda n: n.name,
)
def test_a_class_and_its_stub_have_the_same_members(declared: ast.ClassDef) -> None:
    assert public(getattr(_native, declared.name)) == names(declared.body)


@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_signatures_agree_as_far_as_the_module_tells_them(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    command = [sys.executable, "-m", "mypy.stubtest", "proton._native", "--concise"]
    command += ["--allowlist", str(allowed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
