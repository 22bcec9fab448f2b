from __future__ import annotations

from dataclasses import replace

from proton.model.in_kernel import Ctas
from proton.render.text.cta_waves import wave_lines
from proton.render.text.style import ASCII, Style
from tests.support.in_kernel import CTAS


def test_few_multiprocessors_have_a_bar_each() -> None:
    assert wave_lines(CTAS, Style()) == [
        "CTAs  16 on 3 multiprocessors, 1.33 waves   (the last launch that was read)",
        "      9.00 us from first start to last end   a CTA p50 2.40 us, p99 2.90 us   "
        "tail 2.00 us (22 %)",
        "",
        "time  ███▃",
        "      0 to 9.00 us; highest: 12 CTAs at once",
        "",
        "multiprocessors busy 80 % on average, median 90 %, least 50 %, "
        "the busiest 1.25 times the mean",
        "SM 0    █████████████████████▋    90.0 %",
        "SM 1    idle",
        "SM 2    ████████████              50.0 %",
        "SM 3    ████████████████████████ 100.0 %",
    ]


def test_many_multiprocessors_have_a_block_each() -> None:
    ctas = replace(CTAS, per_sm=(None, *[0.5] * 131), active=())
    lines = wave_lines(ctas, Style(width=50))
    assert [line for line in lines if line.startswith("SM ")] == [
        f"SM 0    .{'▄' * 41}",
        f"SM 42   {'▄' * 42}",
        f"SM 84   {'▄' * 42}",
        f"SM 126  {'▄' * 6}",
    ]
    assert " ".join(lines[-2:]).endswith("a dot: idle (1)")
    assert all(len(line) <= 50 for line in lines)


def test_long_timelines_are_folded_to_the_room() -> None:
    ctas = replace(CTAS, active=tuple(float(at % 2) for at in range(1000)))
    (drawn,) = (line for line in wave_lines(ctas, Style(width=30)) if line.startswith("time"))
    assert len(drawn) == 30


def test_what_is_not_known_is_not_said() -> None:
    assert wave_lines(Ctas(), Style()) == [
        "CTAs  0 on 0 multiprocessors   (the last launch that was read)"
    ]
    (counts,) = wave_lines(Ctas(count=1, sms=1, waves=1.0), Style())
    assert "1.00 wave " in counts


def test_an_idle_device_divides_by_nothing() -> None:
    ctas = Ctas(first_start_ns=5, last_end_ns=5, tail_ns=0, per_sm=(0.0,), active=(0.0,))
    lines = wave_lines(ctas, Style(glyphs=ASCII))
    assert "multiprocessors busy 0 % on average, median 0 %, least 0 %" in lines
    assert all(line.isascii() for line in lines)
