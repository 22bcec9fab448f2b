"""The public names: those users of `triton.profiler` know, and those the reference documents."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import proton

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"

# Names and parameters that programs written for triton.profiler use.
KNOWN_FUNCTIONS = {
    "start": ["name", "context", "data", "backend", "mode", "hook"],
    "activate": ["session"],
    "deactivate": ["session", "flushing"],
    "finalize": ["session", "output_format"],
    "profile": ["func", "name", "context", "data", "backend", "mode", "hook"],
    "data.get": ["session", "phase"],
    "data.get_msgpack": ["session", "phase"],
    "data.advance_phase": ["session"],
    "data.is_phase_complete": ["session", "phase"],
    "data.clear": ["session", "phase", "clear_up_to_phase"],
    "context.depth": ["session"],
    "specs.max_flops": ["device_type", "arch", "width", "num_sms", "clock_rate"],
    "specs.max_bps": ["device_type", "arch", "bus_width", "memory_clock_rate"],
    "metric.transform_tensor_metrics": None,
    "metric.set_metric_kernels": [],
    "hooks.launch.LaunchHook.configure": None,
    "testing.do_bench": ["fn", "warmup", "rep", "grad_to_none", "quantiles", "return_mode"],
    "testing.do_bench_cudagraph": ["fn", "rep", "grad_to_none", "quantiles", "return_mode"],
    "language.record": ["is_start", "scope_name", "semantic"],
    "language.enter_scope": None,
    "language.exit_scope": None,
    "language.allocate_event": None,
    "language.start_event": None,
    "language.end_event": None,
    "language.enable_semantic": None,
    "language.disable_semantic": None,
}
KNOWN_NAMES = [
    "DEFAULT_PROFILE_NAME",
    "scope",
    "cpu_timed_scope",
    "enter_scope",
    "exit_scope",
    "state",
    "enter_state",
    "exit_state",
    "metadata_state",
    "flags.flags.profiling_on",
    "flags.flags.instrumentation_on",
    "flags.flags.command_line",
    "hooks.HookManager.active_hooks",
    "hooks.HookManager.session_hooks",
    "hooks.HookManager.register",
    "hooks.HookManager.unregister",
    "hooks.HookManager.activate",
    "hooks.HookManager.deactivate",
    "hooks.hook.Hook",
    "flags.ProfilerFlags",
    "hooks.launch.COMPUTE_METADATA_SCOPE_NAME",
    "hooks.launch.LaunchHook",
    "language.Event",
    "metric.FLOPS_DTYPES",
    "metric.ROOFLINE_DTYPES",
    "specs.amd_bps_by_arch",
    "specs.amd_fp8_flops_by_arch",
    "specs.flops_by_device",
    "hooks.InstrumentationHook",
    "metric.FLOPS_WIDTHS",
    "mode.BaseMode",
    "mode.PCSampling",
    "mode.InstrumentationMode",
    "mode.Default",
    "mode.MMA",
    "mode.Bytes",
    "mode.CallAt",
    "mode.Memory",
    "mode.Optimize",
    "mode.metric_types",
    "mode.buffer_strategies",
    "mode.buffer_types",
    "mode.sampling_strategies",
    "mode.granularities",
    "mode.optimizations",
    "language.scope",
    "viewer.read",
    "viewer.parse",
    "viewer.derive_metrics",
    "viewer.filter_frames",
    "viewer.format_frames",
    "viewer.get_raw_metrics",
    "viewer.get_min_time_flops",
    "viewer.get_min_time_bytes",
    "viewer.apply_diff_profile",
]
KNOWN_STATE_NAMES = [
    "COMPUTE_METADATA_SCOPE_NAME",
    "COMPUTE_METADATA_SCOPE_PREFIX",
    "get_metadata_state_name",
]


def find(dotted: str) -> object:
    """The object behind `proton.<dotted>`, importing submodules on the way."""
    found: object = proton
    name = "proton"
    for part in dotted.split("."):
        name = f"{name}.{part}"
        if not hasattr(found, part) and inspect.ismodule(found):
            importlib.import_module(name)
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", KNOWN_NAMES)
def test_a_name_of_the_known_surface_is_there(name: str) -> None:
    assert find(name) is not NotImplemented


@pytest.mark.parametrize("name", KNOWN_STATE_NAMES)
def test_the_module_behind_a_shadowed_name_is_still_importable(name: str) -> None:
    assert hasattr(importlib.import_module("proton.state"), name)


# Behind the known arguments, and by keyword alone.
OWN_ARGUMENTS = {"start": ["schedule"], "profile": ["schedule"]}


@pytest.mark.parametrize(("name", "parameters"), KNOWN_FUNCTIONS.items(), ids=KNOWN_FUNCTIONS)
def test_a_function_takes_the_known_arguments(name: str, parameters: list[str] | None) -> None:
    function = find(name)
    assert callable(function)
    if parameters is not None:
        found = inspect.signature(function).parameters
        more = OWN_ARGUMENTS.get(name, [])
        assert list(found) == [*parameters, *more]
        assert all(found[each].kind is inspect.Parameter.KEYWORD_ONLY for each in more)


def test_the_default_name_of_a_profile_is_the_known_one() -> None:
    assert proton.DEFAULT_PROFILE_NAME == "proton"


def documented(module: str) -> set[str]:
    """The names of `module` that have a heading in the reference."""
    headings = re.findall(r"^### `([\w.]+)", REFERENCE.read_text(), re.MULTILINE)
    parts = [heading.rpartition(".") for heading in headings]
    return {name for head, _, name in parts if head == module}


@pytest.mark.parametrize("module", ["proton", "proton.language", "proton.testing"])
def test_the_reference_documents_exactly_the_public_names(module: str) -> None:
    public = importlib.import_module(module).__all__
    assert documented(module) == set(public)


@pytest.mark.parametrize("module", ["proton", "proton.language", "proton.testing"])
def test_public_names_exist_and_are_listed_once(module: str) -> None:
    names = importlib.import_module(module).__all__
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(importlib.import_module(module), name)] == []


@pytest.mark.parametrize("module", ["proton", "proton.language", "proton.testing"])
def test_public_functions_and_classes_have_docstrings(module: str) -> None:
    names = importlib.import_module(module).__all__
    objects = {name: getattr(importlib.import_module(module), name) for name in names}
    silent = [n for n, o in objects.items() if callable(o) and not (o.__doc__ or "").strip()]
    assert silent == []


def test_importing_proton_loads_neither_triton_nor_torch_nor_what_only_readers_need() -> None:
    program = (
        "import sys, proton; "
        "print([m for m in ('triton', 'torch', 'numpy', 'msgpack', 'rich') if m in sys.modules])"
    )
    reply = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert reply.stdout.strip() == "[]", reply.stderr


def documented_signatures() -> dict[str, str]:
    """Name -> the parameters that the reference gives it."""
    found = re.findall(r"^### `(proton\.[\w.]+)(\(.*\))`$", REFERENCE.read_text(), re.M)
    return dict(found)


@pytest.mark.parametrize("name", documented_signatures())
def test_every_function_shows_the_documented_parameters(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    parameters = inspect.signature(function).parameters.values()
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    if module == "proton.language":  # the compiler gives the last one
        plain = [each for each in plain if each.name not in ("_semantic", "_builder", "_generator")]
    shown = str(inspect.Signature(plain)).replace("'", '"')
    assert shown == documented_signatures()[name]


SUBMODULES = [
    "proton",
    *(f"proton.{name}" for name in ("data", "context", "mode", "specs", "metric", "state")),
    *(f"proton.{name}" for name in ("scope", "profile", "viewer", "hooks", "language")),
]


@pytest.mark.parametrize("module", SUBMODULES)
def test_every_public_callable_has_a_signature_and_a_docstring(module: str) -> None:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", [name for name in dir(found) if not name.startswith("_")])
    functions = [getattr(found, name) for name in names if callable(getattr(found, name, None))]
    for function in functions:
        assert inspect.signature(function) is not None, function
        assert inspect.getdoc(function), function


def test_the_help_of_a_native_type_names_its_parameters() -> None:
    import pydoc

    text = pydoc.plain(pydoc.render_doc(proton.scope))
    assert "scope(name, metrics=None)" in text
    assert "enter_scope(name, *, metrics=None)" in pydoc.plain(pydoc.render_doc(proton.enter_scope))
