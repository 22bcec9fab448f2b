"""The native core as Python sees it."""

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, TracebackType
from typing import Any, Final, Protocol, TypeVar

from typing_extensions import Buffer

_F = TypeVar("_F", bound=Callable[..., Any])

class Scope:
    """A user-named region: context manager and decorator; one object may be entered many times.

    It is `proton.scope`. Entering always pushes on the calling thread's (or task's) stack, with or
    without a session, so that a session started inside an open scope knows where it is; interning
    and recording happen only with an open session. Metrics are booked at exit.
    """

    name: str
    metrics: Mapping[str, Any] | None
    @property
    def id(
        self,
    ) -> int | None: ...  # of the latest entry on this thread; None when profiling is off
    def __init__(
        self, name: str, metrics: Mapping[str, Any] | None = None, *, timed: bool = False
    ) -> None: ...
    def __enter__(self) -> Scope: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...
    def __call__(self, function: _F) -> _F: ...  # by way of set_scope_decorator's function

def enter_scope(name: str, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """Open a scope on a stack of its own; the id, or None with no active session."""

def exit_scope(name: str | None = None, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """Close the innermost scope that enter_scope opened on this thread or task.

    A wrong name or an empty stack raises ScopeMismatch and changes nothing.
    """

def enter_state(name: str) -> None:
    """Push a state; the innermost labels the work of this thread or task."""

def exit_state() -> None:
    """Pop the innermost state; ScopeMismatch when there is none."""

def park_scopes(scope: Scope, /) -> object:
    """Take off what is open inside a scope of this thread or task, for `unpark_scopes`."""

def unpark_scopes(parked: object, /) -> None:
    """Put back what `park_scopes` took off; None is nothing."""

def enter_op(name: str | None, metrics: Mapping[str, Any] | None) -> None:
    """Launch metadata for the kernel being launched by this thread: its name and metrics."""

def exit_op() -> None: ...
def set_scope_decorator(function: Callable[[Scope, _F], _F]) -> None: ...
def set_metric_converter(function: Callable[[str, Any], Any]) -> None:
    """`function(name, value)` turns a value that is no int, float or list (a tensor, a numpy
    scalar) into one or into a DeviceValue, or raises MetricTypeError. Called off the fast path only."""

def lead_thread() -> None:
    """Make the calling thread the one that threads without scopes of their own follow."""

def context_path() -> list[str]:
    """The shadow path of the calling thread or task, for tests and debugging."""

def thread_count() -> int:
    """How many threads hold native state (tests look for leaks)."""

def reset_after_fork() -> None:
    """Drop every session and stack that belongs to the parent process."""

class Termination:
    """Signals that end the process, SIGTERM and SIGHUP, caught so that a thread can write first.

    All methods are static.
    """

    @staticmethod
    def catch_signals(*, limit_s: float) -> None:
        """Have the signals that still have their default action end `wait`; the process ends
        `limit_s` later, or at the second signal."""

    @staticmethod
    def release_signals() -> None:
        """Give the default actions back, unless somebody else's handlers stand there by now."""

    @staticmethod
    def catches(signal: int) -> bool:
        """Whether this signal would end `wait`."""

    @staticmethod
    def wait(timeout_s: float) -> int:
        """Without the GIL until a signal came (its number), or `wake` or the time (0); a negative
        time has no end."""

    @staticmethod
    def rescue_after(patience_s: float) -> None:
        """Have a forked child write the journals of prepared sessions where nobody answers so long
        after a signal: other code holds the GIL."""

    @staticmethod
    def stop_rescue() -> None:
        """End the thread that would fork, and wait until it is gone; it stays where a signal has
        come."""

    @staticmethod
    def answer() -> bool:
        """Writing begins, or is done, and no child is begun for want of that; True: one has
        written, and was waited for."""

    @staticmethod
    def caught() -> int:
        """The signal that is ending the process; 0: none."""

    @staticmethod
    def wake() -> None:
        """End a `wait`: the present one, or the next."""

    @staticmethod
    def end_process(signal: int) -> None:
        """End this process as the signal does by default; does not return."""

class TraceCursor:
    """How far the journal of a trace has come; a new one starts at the beginning."""

    def __init__(self) -> None: ...

class DeviceValue:
    """A metric value on a CUDA device that is being read; what the converter returns for one."""

    @staticmethod
    def read(
        address: int,
        kind: int,
        count: int,
        stride_bytes: int,
        is_scalar: bool,
        device: int,
        stream: int,
    ) -> DeviceValue:
        """Put the reading of `count` elements into a stream; nothing waits for it.

        `kind` is a number of native's ElementKind. With the stream under capture the value is read
        at every replay of the graph. Raises UsageError or BackendUnavailable.
        """

    @staticmethod
    def is_possible() -> bool:
        """Whether a session of backend `cupti` is active."""

class Session:
    """One recording: an event sink with a context source, phases and losses.

    All methods are called with the GIL held; `write` and `serialize` release it while formatting.
    """

    @property
    def id(self) -> int: ...
    uses_launch_metadata: bool
    def __init__(self, id: int, *, context: str, data: str) -> None: ...
    has_kernel_times: bool  # whether a backend times kernels; else those that record do
    @property
    def is_active(self) -> bool: ...
    @property
    def context(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def phase(self) -> int: ...  # the current one
    @property
    def losses(self) -> dict[str, int]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def unseen_graphs(self) -> str: ...
    @property
    def event_count(self) -> int: ...  # kernels, copies and samples seen over all phases
    @property
    def is_empty(self) -> bool: ...  # no event, scope or metric in any phase
    def activate(self) -> None: ...
    def deactivate(self) -> None: ...
    def close(self) -> None:
        """Forget the session; every later call raises SessionNotFound."""

    def depth(self) -> int:
        """Frames in the calling thread's current context."""

    def advance_phase(self) -> int: ...
    def has_phase(self, phase: int) -> bool: ...
    def seal_phase(self, phase: int) -> None: ...
    def clear_phase(self, phase: int) -> None: ...
    def change_count(self, phase: int) -> int:
        """Differs whenever the phase holds something else; 0 where there is no such phase."""

    def is_settled(self, phase: int) -> bool:
        """Whether the phase was left and each of its launches has an event, as far as the backend
        can tell. Releases the GIL."""

    def on_kernel(
        self,
        name: str,
        start_ns: int,
        end_ns: int,
        *,
        device_type: str,
        device_id: int,
        lane: int = 0,
        metrics: Mapping[str, Any] | None = None,
        context: int | None = None,
    ) -> None: ...
    def launch_context(self) -> int:
        """Where launches of the calling thread belong now, for `on_kernel` later (its `context`,
        which excludes `metrics`); good until the last session is closed."""

    def add_in_kernel(
        self,
        decoded: DecodedBuffer,
        record_map: Mapping[str, object],
        *,
        kernel: str,
        device_type: str,
        device_id: int,
        context: int | None = None,
        phase: int | None = None,
    ) -> None:
        """Book what one launch of an instrumented kernel recorded about itself; any thread.

        A tree gets a node a region below the kernel's, with the metrics `cycles`,
        `normalized_cycles` (over the launch's warps) and `nanoseconds (ns)`, each without the
        regions inside, so that they add up. A trace gets the spans of `decode(..., spans=True)`:
        CTAs on a lane a multiprocessor, regions on lanes of their warps. Times must be the host's;
        a launch without is counted as a loss. `context` is that of `launch_context` at the launch
        (None: the caller's), `phase` that of the launch (None: the current one). The kernel's own
        time is `on_kernel`'s to say. Releases the GIL.
        """

    def add_device(
        self, device_type: str, device_id: int, attributes: Mapping[str, str | int]
    ) -> None: ...
    def add_autotune(self, record: Mapping[str, object]) -> None: ...
    def set_sampling(
        self,
        *,
        period_cycles: int,
        window_ns: int = 0,
        every_ns: int = 0,
        include: Callable[[str], object] | None = None,
    ) -> None:
        """Say how instructions are sampled; before the first activation, as times are kept by
        symbol from now on. `every_ns` 0: all the time. `include` is asked, once a name and while
        a phase is written, whether kernels and scopes of that name are shown: the others' samples
        are only counted."""

    def missing_code(self, phase: int) -> list[tuple[int, str]]:
        """Sampled functions whose code nobody has, as (module, symbol). Reads the code of the
        others, without the GIL."""

    def sampled_files(self, phase: int) -> list[str]:
        """Source files that samples of a phase lie in, as compilers name them. Releases the
        GIL."""

    def kernel_names(self) -> list[str]:
        """The kernels that were recorded, over all phases, each once."""

    def count_loss(self, kind: str, count: int = 1) -> None: ...
    def warn(self, text: str) -> None: ...
    def serialize(self, format: str, phase: int, header: Mapping[str, object]) -> bytes:
        """One phase as `hatchet`, `hatchet_msgpack`, `chrome_trace` or `perfetto` bytes.

        `header` is the JSON-able start of the file's `proton` key; losses, warnings, autotune
        records, metric kinds and frame kinds are added here.
        """

    def serialize_new(
        self, phase: int, header: Mapping[str, object], cursor: TraceCursor, *, limit: int
    ) -> tuple[bytes, bool]:
        """What a trace got since `cursor`, at most `limit` events of each kind, as a `perfetto`
        file of its own; and whether that is all there is. Scopes that are open end now, in the
        last one."""

    def prepare_rescue(
        self,
        *,
        path: str,
        facts: str,
        header: Mapping[str, object],
        part_stem: str,
        spare_stem: str,
        part_suffix: str,
        part_format: str,
        written: list[int],
    ) -> None:
        """What a journal would begin with if `Termination` had to write it. `facts`: a JSON object
        without its closing brace. Phases that were left and are not `written` become parts: the
        stem, `.part_N` and the suffix; with `spare_stem` where that is a file of another process.
        """

    def write(self, path: str, format: str, phase: int, header: Mapping[str, object]) -> None:
        """Like `serialize`, streamed to a temporary name beside `path` and renamed. OSError."""

class Cupti:
    """NVIDIA's CUPTI, opened at run time: one hub that serves every session of the process.

    All methods are static, are called with the GIL held and release it while they wait. What the
    libraries refuse raises BackendUnavailable, with the number of the error as its `code` (CUPTI's
    39: another tool holds CUPTI).
    """

    @staticmethod
    def load(cupti_path: str, cuda_path: str = "libcuda.so.1") -> int:
        """Open both libraries; the API version of CUPTI. Once loaded, the first choice stands."""

    @staticmethod
    def is_loaded() -> bool: ...
    @staticmethod
    def start(
        session: Session,
        *,
        graphs: str = "node",
        copies: bool = True,
        unified_memory: bool = False,
        buffer_bytes: int = 0,
        value_bytes: int = 0,
        graph_timing: bool = False,
        sampling: Mapping[str, int] | None = None,
    ) -> None:
        """Report to `session` from now on, whenever it is active; its `activate`, `deactivate` and
        `close` are enough to pause, go on and end. With no active session nothing is collected.

        `graphs` is `node` (every kernel of a replay) or `graph` (one event a replay);
        `buffer_bytes` 0 is the default size (4 MiB), as is `value_bytes` 0 for metric values.
        `graph_timing` tells on stderr how long each launch of a graph took. `sampling` also samples
        instructions: any of period_exponent (14: every 2^14 cycles), buffer_bytes (of the
        hardware), drain_ns, and window_ns of every_ns (both 0: all the time). Where it cannot, the
        first activation raises BackendUnavailable.
        """

    @staticmethod
    def enable_hw_trace() -> str:
        """With a session started: time kernels by the hardware's own events, to the process's end.

        A line for the user where that cannot be, at the first such call; else empty.
        """

    @staticmethod
    def flush(timeout_s: float = 10.0, *, synchronize: bool = True) -> bool:
        """Bring every event of finished work to its session.

        `synchronize` first waits for the work that is under way. False: the time was not enough;
        what came until then is booked.
        """

    @staticmethod
    def take_problems() -> list[str]:
        """What went wrong in flushes and in sampling since the last call: lines for the user."""

    @staticmethod
    def check_sampling() -> str | None:
        """Why this process cannot sample instructions, and what to do; None: nothing is known.

        Asks nothing that needs a context: those that are there refuse at a session's activation.
        """

    @staticmethod
    def probe_sampling() -> str | None:
        """Why device 0 cannot be sampled, and what to do; None: it can.

        Initialises the driver and makes a context, which a program's own process must not: only
        for a process that does nothing else.
        """

    @staticmethod
    def has_contexts() -> bool:
        """Whether a CUDA context is known; never initialises the driver."""

    @staticmethod
    def set_problem_listener(listener: Callable[[list[str]], None]) -> None:
        """Have problems of sampling told as they come, on the main thread; the last one set is."""

    @staticmethod
    def add_cubin(cubin: bytes, ptx: str = "") -> None:
        """Keep a cubin of a module that was loaded before anybody sampled, for lines of samples."""

    @staticmethod
    def stop(session: Session) -> None:
        """Report no more to `session`; flush first. The last one out lets go of CUPTI."""

    @staticmethod
    def detach() -> bool:
        """Between sessions: have CUPTI let go of the driver, which it slows while it is there.

        False: it stays, for a session or for captured graphs that a later session should know.
        """

    @staticmethod
    def devices() -> list[dict[str, str | int]]:
        """Every device's name, arch, num_sms, clock_rate, memory_clock_rate (kHz), bus_width, ..."""

    @staticmethod
    def driver_version() -> int: ...
    @staticmethod
    def stats() -> dict[str, int]:
        """Counters of the hub: kernels, copies, graphs, incomplete, unknown, dropped, buffers,
        buffer_bytes, buffer_count, launches, graph_nodes, graph_refusals, names, values,
        value_bytes, clock_offset_ns, clock_residual_ns, is_subscribed; of sampling: samples,
        dropped_samples, non_user_samples, sample_overflows, sample_reads, sample_windows,
        sample_switches (times that launches were held), sample_switches_put_off,
        longest_launch_hold_ns, sampled_contexts, cubins."""

class Nvtx:
    """The library that NVTX loads; ranges reach the sessions while somebody listens."""

    @staticmethod
    def load(path: str) -> None: ...
    @staticmethod
    def listen(is_listening: bool) -> None: ...
    @staticmethod
    def module_count() -> int: ...  # modules of the program that have found the library

class TorchObserver:
    """torch's observer on its way: the library is open, and calls whose values are known tell where
    its fields are; the order of the steps stands in `frameworks/torch/calibration.h`.

    Raises BackendUnavailable: torch lacks a function, or the fields are not certain.
    """

    def __init__(self, path: str) -> None: ...
    def watch_numbers(self) -> None: ...
    def watch_node(self, forward_thread: int, number: int) -> None: ...
    def stop(self) -> None: ...
    def thread_id(self) -> int: ...
    def attach(self) -> None: ...
    @staticmethod
    def is_attached() -> bool: ...
    @staticmethod
    def counts() -> dict[str, int]:
        """Of the process: backward_nodes, backward_by_neighbour, unknown_forward."""
    @staticmethod
    def read_frames(is_wanted: bool) -> None:
        """Whether sessions of tier blame and ops have frames and modules in their paths."""
    @staticmethod
    def call_of_modules(code: CodeType) -> None:
        """Frames of this code call modules: their first argument."""

def step(name: str | None = None) -> None:
    """A step of the program ends and the next begins, in every active session."""

FORMAT_VERSION: int  # of the `proton` key that files are written with

def demangle(name: str) -> str:
    """The declaration behind a C++ symbol; any other name, and one whose text would be longer than
    64 KiB, as it is."""

def short_name(name: str) -> str:
    """The declaration behind a C++ symbol without return type and parameters, its template
    arguments shortened; any other name as it is."""

def encode_perfetto(
    *,
    lanes: Sequence[tuple[str, str, int, str, str, str, str]],
    paths: Sequence[tuple[int | None, str]],
    spans: Sequence[tuple[str, int, int, int, int, Mapping[str, Any], int]],
    attributes: Sequence[Mapping[str, Any]],
    flows: Sequence[tuple[int, int, int]],
    properties: Sequence[str],
    header: Mapping[str, Any],
    summary: str,
    zero_ns: int,
    has_unix_time: bool,
) -> bytes:
    """A trace that was read, as a file of Perfetto's format.

    `lanes` are kind, name, place, CTA, multiprocessor, key and title of each; `paths` the parent
    (None: a name that is no path) and the name of each, the root first; `spans` kind, lane, path,
    start, end, metrics and number of attributes (0: none) of each. Times are nanoseconds after
    `zero_ns`. `flows` lead from span to span, with an id each, and `summary` is JSON."""

def cubin_section(image: bytes, name: str) -> bytes:
    """The bytes of a section of a cubin; empty where it is none or has no such section."""

class Cubin:
    """Code of one GPU architecture as drivers load it, with the source line of each instruction.

    `ptx` is the text it was made of, for columns and, with Triton up to 3.7, for the callers of
    inlined code; a text of another cubin is left aside. Raises UsageError for bytes that are no
    cubin.
    """

    def __init__(self, image: bytes, ptx: str = "") -> None: ...
    @property
    def architecture(self) -> int: ...  # 90 for sm_90
    @property
    def lines(self) -> str: ...  # of line tables: "present", "damaged", "absent"
    @property
    def has_lines(self) -> bool: ...
    @property
    def is_ptx_used(self) -> bool: ...
    def functions(self) -> list[str]:
        """Symbols of kernels and routines, in the order of the code."""

    def locate(
        self, function: str, offsets: Sequence[int]
    ) -> list[tuple[tuple[str, int, int, str], ...]]:
        """For each offset into a function the frames (file, line, column, function): the user's
        first, what was inlined into it behind it. Column 0 and function "" are not known; no frames
        where the tables say nothing."""

    def routine(self, function: str, offset: int) -> str:
        """The symbol whose code is at an offset into a function: itself, or a routine behind it."""

    def code(self, function: str) -> bytes:
        """Instructions of 16 bytes."""

class RegionSummary:
    """A region of a kernel in the context it was recorded in, over all warps.

    Cycles are without the records' own cost, `raw_cycles` with it. A region that is recorded below
    two others has two summaries.
    """

    region: Final[int]  # its id
    parent: Final[int | None]  # an earlier summary
    depth: Final[int]
    count: Final[int]  # passages, marks or values
    warp_count: Final[int]  # warps that came there
    raw_cycles: Final[int]
    cycles: Final[float]
    time_ns: Final[float]  # 0 where the frequency is not known
    min_cycles: Final[float]  # of a passage
    max_cycles: Final[float]
    value_count: Final[int]
    value_not_finite: Final[int]  # NaN and infinities: in no sum, min or max
    value_sum: Final[float]
    value_min: Final[int | float | None]
    value_max: Final[int | float | None]

class WarpSummary:
    """A recorded warp, from opening its buffer to closing it."""

    slot: Final[int]
    cta: Final[int]
    warp: Final[int]
    sm: Final[int]
    record_count: Final[int]
    overwritten: Final[int]
    cycles: Final[int]
    has_times: Final[bool]
    start_ns: Final[int]
    end_ns: Final[int]

class DecodedBuffer:
    """What a launch recorded; holds nothing of the buffer it was read from."""

    @property
    def cycles_per_ns(self) -> float: ...  # the real frequency in GHz; 0: not known
    @property
    def time_step_ns(self) -> int: ...  # of the device's global time
    @property
    def is_host_time(self) -> bool: ...  # else times are the device's global ones
    @property
    def record_count(self) -> int: ...
    def losses(self) -> dict[str, int]:
        """What could not be read or trusted, by kind; kinds that never happened are left out."""

    def regions(self) -> list[RegionSummary]:
        """Parents first."""

    def warps(self) -> list[WarpSummary]: ...
    def sms(self) -> list[tuple[int, int, float, float]]:
        """For each SM its number, warps, cycles per ns and the residual (ns) of its clock's line."""

    def spans(self) -> list[tuple[int, int, int, int, int, int | float | None]]:
        """(summary, warp, warp it ended in, start_ns, end_ns, value) by index; marks have no length,
        only values a value. Empty unless asked for."""

class DeviceClock:
    """How far a device's global time is from the host's clock, learned from launches.

    One for each device; `DeviceBuffer.decode` teaches and asks it, from any thread.
    """

    def __init__(self) -> None: ...
    @property
    def offset_ns(self) -> int | None: ...  # host less device; None: no launch has told
    @property
    def uncertainty_ns(self) -> int: ...  # the offset is at most half of it off

class _Geometry(Protocol):
    @property
    def cta_count(self) -> int: ...
    @property
    def warp_count(self) -> int: ...
    @property
    def ring_bytes(self) -> int: ...

class DeviceBuffer:
    """What instrumented kernels leave in their buffers: the numbers of the layout, and the decoder.

    `proton.inkernel.ir.layout` names the numbers; backends/device_buffer/layout.h defines them.
    """

    RECORD_BYTES: int
    HEADER_BYTES: int
    MAGIC: int
    KIND_START: int
    KIND_END: int
    KIND_MARK: int
    KIND_VALUE: int
    KIND_SHIFT: int
    REGION_SHIFT: int
    REGION_LIMIT: int  # ids of regions are below
    PAYLOAD_BITS: int
    OFFSET_MAGIC: int  # these into the header, in bytes
    OFFSET_CTA: int
    OFFSET_WARP: int
    OFFSET_SM: int
    OFFSET_WRITTEN_BYTES: int
    OFFSET_RING_BYTES: int
    OFFSET_START_TIME: int
    OFFSET_START_CLOCK: int
    OFFSET_END_TIME: int
    OFFSET_END_CLOCK: int
    OFFSET_MAILBOX_WRITTEN: int
    OFFSET_MAILBOX_DRAINED: int
    @staticmethod
    def decode(
        buffer: Buffer,
        geometry: _Geometry,
        record_map: Mapping[str, object],
        *,
        record_cycles: float = 0.0,
        empty_cycles: float = 0.0,
        kernel_ns: tuple[int, int] | None = None,
        expected_warps: int | None = None,
        host_clock: DeviceClock | None = None,
        spans: bool = False,
        exact: bool = True,
        drained: Sequence[Buffer] | None = None,
    ) -> DecodedBuffer:
        """Read the buffer of one launch, without the GIL.

        `record_map` is the compiled kernel's: `regions` by id (those of kind `event` start and end
        in any order and warp, all others nest; `bits` of their values) and `clock_bits`, 32 or 48.
        Of kind `iteration` a passage lasts until the next one or the end of its `parent`, a `loop`.
        `record_cycles` is what a record costs, `empty_cycles` what passes between two records with
        nothing between them (0: as much), `kernel_ns` when the kernel ran on the host's clock,
        `expected_warps` how many slots were to be written (None: all), `host_clock` what other
        launches on the device told about its time (where `kernel_ns` is given it learns, else it
        places the launch), `drained` what was taken out of each slot's ring while the kernel ran.
        Without `exact` clocks are fitted quickly where global time is fine enough for that.
        Bytes that make no sense are counted as losses; UsageError only for a call that makes none.
        """

class SiteTotal:
    """One place of a kernel that accesses memory, over all warps."""

    accesses: Final[int]
    warp_count: Final[int]

class CountedSites:
    """What warps counted, and what of it could not be trusted."""

    @property
    def warp_count(self) -> int: ...
    def sites(self) -> list[SiteTotal]: ...
    def first_addresses(self) -> list[tuple[int, int, int, int]]:
        """Place, CTA, warp, address."""

    def losses(self) -> dict[str, int]: ...

class TensorHeat:
    """Accesses to one tensor, in all and by address; the first bin begins with it."""

    load_bytes: Final[int]
    store_bytes: Final[int]
    accesses: Final[int]
    start_address: Final[int]
    bin_bytes: Final[int]
    byte_bins: Final[list[int]]
    access_bins: Final[list[int]]

class HeatMap:
    """A launch's table of address bins, given to its tensors."""

    @property
    def elsewhere(self) -> TensorHeat: ...
    def tensors(self) -> list[TensorHeat]: ...
    def losses(self) -> dict[str, int]: ...

class DeviceMemory:
    """What kernels count about memory: the numbers of the layout, and the decoder.

    backends/device_buffer/bins.h defines the numbers.
    """

    COUNTER_BYTES: int
    MOST_SITES: int
    BIN_BYTES: int
    MOST_PROBES: int
    HASH_FACTOR: int
    MOST_BINS: int  # of a table; of its rows, too
    COLUMN_BYTES: int
    TABLE_HEADER_BYTES: int  # before the addresses of the columns' arguments
    LEVELS: int  # these five: how rows are divided
    LEVEL_BITS: int
    LEAST_ROWS: int
    OWN_ROW_BITS: int
    COPY_BITS: int
    OFFSET_ACCESSES: int  # these two into a counter, in bytes
    OFFSET_FIRST_ADDRESS: int
    OFFSET_KEY: int  # these four into a hashed bin
    OFFSET_LOAD_BYTES: int
    OFFSET_STORE_BYTES: int
    OFFSET_BIN_ACCESSES: int
    OFFSET_DROPPED_ACCESSES: int  # these two into what stands before the bins
    OFFSET_DROPPED_BYTES: int
    @staticmethod
    def read_counters(
        buffer: Buffer,
        *,
        cta_count: int,
        warp_count: int,
        ring_bytes: int,
        site_count: int,
        stride_bytes: int,
        most_addresses: int = 4096,
    ) -> CountedSites:
        """The counters of one launch's buffer, without the GIL."""

    @staticmethod
    def read_table(
        table: Buffer,
        *,
        bin_bytes: int,
        bins: int,
        rows: int,
        grid_ctas: int,
        columns: Sequence[tuple[int, int, bool]],
        ranges: Sequence[tuple[int, int, int | None]],
        most_bins: int = 1024,
    ) -> HeatMap:
        """The table of a launch, without the GIL.

        `bins` (hashed) and `rows` are what each CTA adds; columns are argument, bytes of an access
        and whether it reads; ranges are address, bytes, argument or None.
        """

class InKernel:
    """The recorder: gives kernels that record their buffers, and tells sessions what they recorded.

    One for the process; launches are never waited for. `add_kernel`, `allocate` and `launched` are
    called in Triton's launch path, the others by the instrumentation backend.
    """

    @staticmethod
    def load(cuda_path: str) -> None: ...  # opens the driver, once; BackendUnavailable
    @staticmethod
    def is_loaded() -> bool: ...
    @staticmethod
    def add_kernel(
        name: str,
        *,
        scratch_bytes: int,
        record_map: Mapping[str, Any],
        record_cycles: float = 0.0,
        empty_cycles: float = 0.0,
        keeps_bytes: bool = False,
    ) -> int: ...
    @staticmethod
    def start(session: Session) -> None: ...
    @staticmethod
    def stop(session: Session) -> None: ...
    @staticmethod
    def allocate(
        bytes: int, alignment: int, stream: int, *, in_host_memory: bool = False
    ) -> int: ...  # an address, for the launch that the thread makes next
    @staticmethod
    def is_capturing(stream: int) -> bool: ...  # into a graph, or the driver does not say
    @staticmethod
    def has_buffer() -> bool: ...  # whether it was given one and has not told of its launch
    @staticmethod
    def launched(kernel: int, note: int = 0) -> None: ...  # `note` comes with a kept buffer
    @staticmethod
    def unread() -> None: ...
    @staticmethod
    def allocate_scrap(bytes: int, alignment: int) -> int: ...  # that nobody reads
    @staticmethod
    def take_kept(session: Session) -> list[dict[str, Any]]: ...  # each once
    @staticmethod
    def set_only(session: Session | None) -> None: ...  # nobody else hears of this thread's launches
    @staticmethod
    def describe_device() -> tuple[str, int]: ...  # name, the driver's version
    @staticmethod
    def flush(limit_s: float) -> bool: ...
    @staticmethod
    def sums(session: Session, phase: int) -> list[dict[str, Any]]: ...
    @staticmethod
    def forget_phase(session: Session, phase: int) -> None: ...
    @staticmethod
    def stats() -> dict[str, int]: ...
    @staticmethod
    def devices() -> list[dict[str, str | int]]: ...  # as in a device map
    @staticmethod
    def take_problems() -> list[str]: ...

class Columns:
    """Passes over columns of numbers: arrays of the standard library in, bytes of arrays out."""

    @staticmethod
    def take(values: Buffer, places: Buffer) -> bytes: ...
    @staticmethod
    def put(size: int, places: Buffer, values: Buffer) -> bytes: ...
    @staticmethod
    def order_by(*columns: Buffer) -> bytes: ...
    @staticmethod
    def group_by(*columns: Buffer) -> tuple[bytes, bytes]: ...
    @staticmethod
    def add(first: Buffer, second: Buffer) -> bytes: ...
    @staticmethod
    def subtract(first: Buffer, second: Buffer) -> bytes: ...
    @staticmethod
    def to_whole(times: Buffer) -> bytes | None: ...
    @staticmethod
    def sum_by(values: Buffer, kinds: Buffer, count: int) -> list[float]: ...
    @staticmethod
    def cut_gaps(
        start: Buffer,
        end: Buffer,
        launched: Buffer,
        thread: Buffer,
        blocking: Sequence[tuple[Buffer, Buffer]],
        busy_end: Buffer,
        busy_cause: Buffer,
    ) -> tuple[bytes, bytes, bytes]:
        """Starts, ends and causes of gaps between pieces of work."""

class PacketScanner:
    """Reads the events of a Perfetto trace into columns, block by block. Not thread-safe."""

    def __init__(self) -> None: ...
    def begin_sequence(
        self,
        *,
        id: int,
        track: int,
        has_counter_track: bool,
        is_incremental: bool,
        last_ns: int,
        offset_ns: int,
    ) -> int:
        """From now on packets of `id` are of a sequence in this state; the number of it."""

    def scan(self, block: bytes, at: int) -> int | None:
        """Take packets from `at` on; where it stopped: at the end, or at a packet that is not its
        own. None: the trace is not one for this scanner."""

    def shapes(self) -> list[tuple[int, int, int, int, int]]:
        """What spans share: sequence, name, category, literal name and annotations, as numbers."""

    def literals(self) -> list[bytes]: ...
    def annotations(self) -> list[bytes]: ...
    def text(self, sequence: int, kind: int, iid: int) -> bytes | None: ...
    def first_ns(self) -> int | None: ...
    def skipped(self) -> tuple[int, int, int]:
        """Events of other types, ends without a begin, begins without an end."""

    def spans(self, *, zero_ns: int, lanes: Sequence[int], ranks: Sequence[int]) -> dict[str, Any]:
        """The spans by start as bytes of columns, and the lanes as spans first use them."""

class EventScanner:
    """Reads the events of a chrome trace into columns. Not thread-safe."""

    def __init__(self) -> None: ...
    def scan(self, text: bytes) -> bool:
        """Take the text of a file; False where it is not one for this scanner."""

    def scan_file(self, path: str) -> bool:
        """Take the text of the file at `path`, which is never in memory twice."""

    def outside(self) -> bytes:
        """The file without its events."""

    def texts(self, part: int, first: int, count: int) -> list[bytes]:
        """Parts of events as JSON, each once: heads without times and ids, arguments, stacks."""

    def shapes(self) -> tuple[bytes, bytes, bytes]:
        """What events share, as bytes of columns: numbers of head, arguments and stack."""

    def counts(self) -> bytes: ...
    def lasts(self) -> bytes: ...
    def bind(self, roles: Sequence[tuple[int, int, int]]) -> dict[str, Any] | None:
        """The spans and flows as bytes of columns, given kind, row and category of each shape."""
