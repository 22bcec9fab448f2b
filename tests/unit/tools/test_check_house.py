"""The checks of the layout find each kind of fault in a small tree made for it."""

from pathlib import Path

from tools import check_house


def write(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_folder_with_too_many_files_on_a_level_is_named(tmp_path: Path) -> None:
    for number in range(30):
        write(tmp_path, f"src/proton/room/m{number}.py")
        write(tmp_path, f"src/proton/room/inner/m{number}.py")
    assert check_house.check_levels(tmp_path) == []
    write(tmp_path, "src/proton/room/one_more.py")
    assert check_house.check_levels(tmp_path) == [
        "src/proton/room: 31 files on one level, at most 30 may be"
    ]


def test_a_type_is_counted_with_every_source_that_defines_a_member(tmp_path: Path) -> None:
    write(tmp_path, "src/native/room/hub.h", "class Hub {\n void a();\n void b();\n};\n")
    write(tmp_path, "src/native/room/hub.cpp", "void Hub::a() {\n}\n" + "\n" * 300)
    assert check_house.check_types(tmp_path) == []
    write(tmp_path, "src/native/room/more.cpp", "void Hub::b() {\n}\n" + "\n" * 300)
    (complaint,) = check_house.check_types(tmp_path)
    assert complaint.startswith("src/native: type 'Hub' has 608 lines with its sources and 0 data")


def test_data_members_of_a_type_are_counted_without_those_of_types_inside(tmp_path: Path) -> None:
    own = "".join(f"  int member{number}_ = 0;  // of two_;\n" for number in range(20))
    inner = "  struct Inner {\n    int inner_;\n  };\n"
    method = "  int value() const { return member0_; }\n"
    write(tmp_path, "src/native/room/a.h", f"class A {{\n{own}{inner}{method}}};\n")
    assert check_house.check_types(tmp_path) == []
    write(tmp_path, "src/native/room/a.h", f"class A {{\n{own}  std::mutex lock_;\n}};\n")
    assert "21 data members" in check_house.check_types(tmp_path)[0]


def test_types_of_one_name_have_the_sources_of_their_own_folder(tmp_path: Path) -> None:
    for room in ("one", "two"):
        write(tmp_path, f"src/native/{room}/pool.h", "class Pool {\n void a();\n};\n")
        write(tmp_path, f"src/native/{room}/pool.cpp", "void Pool::a() {\n}\n" + "\n" * 400)
    assert check_house.check_types(tmp_path) == []


def test_native_folders_that_include_each_other_are_named(tmp_path: Path) -> None:
    write(tmp_path, "src/native/room/low/a.h", '#include "room/high/b.h"\n')
    write(tmp_path, "src/native/room/high/b.h", '#include "room/low/c.h"\n')
    write(tmp_path, "src/native/room/low/c.h")
    assert check_house.check_cycles(tmp_path) == [
        "room/high, room/low: need each other (b.h needs room/low; a.h needs room/high)"
    ]


def test_python_packages_that_import_each_other_are_named(tmp_path: Path) -> None:
    write(tmp_path, "src/proton/errors.py", "from proton import __version__\n")
    write(tmp_path, "src/proton/room/__init__.py")
    write(tmp_path, "src/proton/room/top.py", "from proton.room.low import a\n")
    write(tmp_path, "src/proton/room/low/a.py", "from proton.errors import X\n")
    assert check_house.check_cycles(tmp_path) == []
    write(tmp_path, "src/proton/room/low/a.py", "def f():\n    from proton.room.top import x\n")
    assert check_house.check_cycles(tmp_path) == [
        "room, room/low: need each other (room/top.py needs room/low; room/low/a.py needs room)"
    ]


def test_a_native_backend_that_includes_another_is_named(tmp_path: Path) -> None:
    write(tmp_path, "src/native/backends/own.h")
    write(tmp_path, "src/native/backends/common/table.h")
    write(tmp_path, "src/native/backends/cupti/driver/abi.h")
    allowed = '#include "backends/common/table.h"\n#include "backends/own.h"\n'
    write(tmp_path, "src/native/backends/other/hub.cpp", allowed)
    write(tmp_path, "src/native/backends/cuda/driver.h")
    both = '#include "backends/cupti/driver/abi.h"\n#include "backends/cuda/driver.h"\n'
    write(tmp_path, "src/native/backends/cupti/hub.cpp", both)
    assert check_house.check_backends(tmp_path) == []
    write(tmp_path, "src/native/backends/other/abi.cpp", both)
    assert check_house.check_backends(tmp_path) == [
        "src/native/backends/other/abi.cpp: must not include 'backends/cupti/driver'",
        "src/native/backends/other/abi.cpp: must not include 'backends/cuda'",
    ]


def test_an_import_of_triton_beside_its_door_is_named(tmp_path: Path) -> None:
    write(tmp_path, "src/proton/_triton/__init__.py", "import triton\n")
    write(tmp_path, "src/proton/runtime/a.py", "from proton import _triton\n")
    assert check_house.check_doors(tmp_path) == []
    write(tmp_path, "src/proton/runtime/a.py", "def f():\n    import triton.language\n")
    assert check_house.check_doors(tmp_path) == [
        "src/proton/runtime/a.py: imports triton; use _triton/"
    ]
