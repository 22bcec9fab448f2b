"""Kernels whose parts take a known time; in a file of their own, as Triton reads their source.

`timed` measures a part itself, with two reads of the clock and nothing else: the truth. `recorded`
has the same part in a region. A part is a loop in PTX whose length the compiler does not know, and
which ends when its last result has come: nothing of it moves across what measures it, and nothing
of it is still under way. Turns are long: a jump back takes some cycles more or less with the place
of the loop in the code, which records change. `TIGHT` is what that makes of a short one.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

import proton.language as pl

# Every part takes a count ($1), 64 bits ($2) and an address in shared memory ($3), and gives 64
# bits ($0): what is computed is used.
_LOOP = """{
.reg .b64 at; .reg .b32 left, low, high; .reg .f32 x, y, a, b, c, d; .reg .pred more;
mov.u32 left, $1; mov.u64 at, $2;
BEFORE
again: BODY
sub.u32 left, left, 1; setp.ne.u32 more, left, 0; UNTIL
@more bra again;
AFTER
}"""
_SPIN = """{
.reg .b32 start, now; .reg .pred more;
mov.u32 start, %clock;
again: mov.u32 now, %clock;
sub.u32 now, now, start; setp.lt.u32 more, now, $1;
@more bra again;
add.u64 $0, $2, 1;
}"""


def _loop(
    body: str,
    before: str = "",
    after: str = "mov.u64 $0, at;",
    until: str = "setp.ne.and.u64 more, at, 0, more;",  # never 0: the next turn needs the result
) -> str:
    text = _LOOP.replace("BEFORE", before).replace("BODY", body).replace("AFTER", after)
    return text.replace("UNTIL", until)


def _chain(body: str) -> str:
    """A loop on one number, each step of which needs the one before; two floats are the 64 bits."""
    before = "mov.b64 {low, high}, at; mov.b32 x, low; mov.b32 y, high;"
    until = "setp.neu.and.f32 more, x, 0f00000000, more;"
    return _loop(body, before, "mov.b32 low, x; mov.b64 $0, {low, high};", until)


NOTHING = tl.constexpr("{ .reg .b32 unused; mov.u32 unused, $1; mov.u64 $0, $2; }")
SPIN = tl.constexpr(_SPIN)
MULTIPLY_ADD = tl.constexpr(_chain(64 * "fma.rn.f32 x, x, y, y; "))
TIGHT = tl.constexpr(_chain(4 * "fma.rn.f32 x, x, y, y; "))
# four numbers at once: where every multiprocessor has many warps, issuing is what takes time
WIDE = tl.constexpr(
    _chain(
        "mov.f32 a, x; add.f32 b, x, y; neg.f32 c, x; sub.f32 d, y, x; "
        + 16 * "".join(f"fma.rn.f32 {each}, {each}, y, y; " for each in "abcd")
        + "add.f32 x, a, b; add.f32 c, c, d; add.f32 x, x, c;"
    )
)
INVERSE_ROOT = tl.constexpr(_chain(10 * "rsqrt.approx.ftz.f32 x, x; fma.rn.f32 x, x, y, y; "))
LOAD = tl.constexpr(_loop("ld.global.ca.b64 at, [at];"))
CHASE_NEAR = tl.constexpr(_loop(10 * "ld.global.ca.b64 at, [at]; "))  # through the L1 cache
CHASE_FAR = tl.constexpr(_loop(4 * "ld.global.cg.b64 at, [at]; "))  # past it
# every lane copies 16 bytes, waits for them, and goes on where they point
COPY = tl.constexpr(
    _loop(
        "cp.async.cg.shared.global [$3], [at], 16; cp.async.commit_group; "
        "cp.async.wait_group 0; ld.shared.b64 at, [$3];"
    )
)
_PLACE = """{
.shared .align 16 .b8 staged[512]; .reg .b32 base, lane;
mov.u32 base, staged; mov.u32 lane, %laneid; mad.lo.u32 $0, lane, 16, base;
}"""
PLACE = tl.constexpr(_PLACE)
NUMBERS = ("count", "turns", "steps")  # not even a count of 1 is known to the compiler


@triton.jit
def clock():
    return tl.inline_asm_elementwise(
        "mov.u32 $0, %clock;", "=r,~{memory}", [], dtype=tl.uint32, is_pure=False, pack=1
    )


@triton.jit
def place_of(PART: tl.constexpr):
    """16 bytes of shared memory for each lane, found before anything is measured."""
    place = tl.full((), 0, tl.int32)
    if PART == COPY:
        place = tl.inline_asm_elementwise(
            PLACE, "=r,~{memory}", [], dtype=tl.int32, is_pure=False, pack=1
        )
    return place


@triton.jit
def work(PART: tl.constexpr, count, value, place):
    return tl.inline_asm_elementwise(
        PART, "=l,r,l,r,~{memory}", [count, value, place], dtype=tl.int64, is_pure=False, pack=1
    )


@triton.jit(do_not_specialize=NUMBERS)
def timed(
    start, sink_ptr, cycles_ptr, count, turns, steps, PART: tl.constexpr, THREADS: tl.constexpr
):
    """Cycles of all turns, by each thread; a turn is the part, `steps` times."""
    value, place = start, place_of(PART)
    at = tl.program_id(0) * THREADS + tl.arange(0, THREADS)
    cycles = tl.zeros((THREADS,), tl.uint32)
    for _ in range(turns):
        before = clock()
        for _ in range(steps):
            value = work(PART, count, value, place)
        cycles += clock() - before
    tl.store(cycles_ptr + at, cycles)
    tl.store(sink_ptr + at, tl.zeros((THREADS,), tl.int64) + value)


@triton.jit(do_not_specialize=NUMBERS)
def timed_once(
    start, sink_ptr, cycles_ptr, count, turns, PART: tl.constexpr, THREADS: tl.constexpr
):
    """The same where a turn is the part, once."""
    value, place = start, place_of(PART)
    at = tl.program_id(0) * THREADS + tl.arange(0, THREADS)
    cycles = tl.zeros((THREADS,), tl.uint32)
    for _ in range(turns):
        before = clock()
        value = work(PART, count, value, place)
        cycles += clock() - before
    tl.store(cycles_ptr + at, cycles)
    tl.store(sink_ptr + at, tl.zeros((THREADS,), tl.int64) + value)


@triton.jit(do_not_specialize=NUMBERS)
def recorded(
    start, sink_ptr, count, turns, NAME: tl.constexpr, PART: tl.constexpr, THREADS: tl.constexpr
):
    """As `timed_once`, each turn in a region."""
    value, place = start, place_of(PART)
    for _ in range(turns):
        with pl.scope(NAME):
            value = work(PART, count, value, place)
    at = tl.program_id(0) * THREADS + tl.arange(0, THREADS)
    tl.store(sink_ptr + at, tl.zeros((THREADS,), tl.int64) + value)


@triton.jit(do_not_specialize=NUMBERS)
def recorded_event(
    start, sink_ptr, count, turns, NAME: tl.constexpr, PART: tl.constexpr, THREADS: tl.constexpr
):
    """As `timed_once`, each turn an asynchronous event."""
    value, place = start, place_of(PART)
    event = pl.allocate_event(NAME)
    for _ in range(turns):
        pl.start_event(event)
        value = work(PART, count, value, place)
        pl.end_event(event)
    at = tl.program_id(0) * THREADS + tl.arange(0, THREADS)
    tl.store(sink_ptr + at, tl.zeros((THREADS,), tl.int64) + value)


@triton.jit(do_not_specialize=NUMBERS)
def recorded_steps(
    start, sink_ptr, count, turns, steps, NAME: tl.constexpr, PART: tl.constexpr,
    THREADS: tl.constexpr,
):  # fmt: skip
    """As `timed`: each turn a region, and every step in it one more."""
    value, place = start, place_of(PART)
    for _ in range(turns):
        with pl.scope(NAME):
            for _ in range(steps):
                with pl.scope("step"):
                    value = work(PART, count, value, place)
    at = tl.program_id(0) * THREADS + tl.arange(0, THREADS)
    tl.store(sink_ptr + at, tl.zeros((THREADS,), tl.int64) + value)
