"""Tests of the sampling mode: units, ranges, rounding, its text."""

from __future__ import annotations

import pytest

from proton._mode_text import split_modes
from proton.backends.cupti.sampling_mode import PCSampling, parse_sampling
from proton.errors import UsageError


def parsed(text: str) -> PCSampling:
    (mode,) = split_modes(text)
    return parse_sampling(mode)


def test_unset_options_mean_their_defaults() -> None:
    mode = parsed("pcsampling")
    assert mode == PCSampling()
    assert mode.period_exponent == 14
    assert (mode.buffer_bytes, mode.drain_ns) == (512 << 20, 200_000_000)
    assert (mode.window_ns, mode.every_ns, mode.include, mode.fallback) == (0, 0, None, None)


@pytest.mark.parametrize(
    ("interval", "exponent"),
    [(32, 5), (47, 5), (48, 6), (1000, 10), (16384, 14), (24575, 14), (24576, 15), (1 << 31, 31)],
)
def test_the_interval_becomes_the_nearest_power_of_two(interval: int, exponent: int) -> None:
    assert PCSampling(interval=interval).period_exponent == exponent


@pytest.mark.parametrize("interval", [0, -5, 31, (1 << 31) + 1, "x", "1e4", 64.0, True, None])
def test_an_interval_out_of_range_is_refused_with_the_range(interval: object) -> None:
    with pytest.raises(ValueError, match=r"interval must be 32 to 2147483648 \(2\*\*31\) cycles"):
        PCSampling(interval=interval)  # type: ignore[arg-type]


def test_text_and_keywords_mean_the_same() -> None:
    text = "pcsampling:interval=4096:buffer=64MB:drain=0.5s:window=30ms:every=1s:include=gemm"
    options = "fallback=timing:graphs=graph"
    mode = parsed(f"{text}:{options}")
    assert mode == PCSampling(
        interval=4096,
        buffer=64 << 20,
        drain=0.5,
        window=0.03,
        every=1,
        include="gemm",
        fallback="timing",
        graphs="graph",
    )
    assert (mode.buffer_bytes, mode.drain_ns) == (64 << 20, 500_000_000)
    assert (mode.window_ns, mode.every_ns) == (30_000_000, 1_000_000_000)


@pytest.mark.parametrize(
    "mode",
    [
        PCSampling(),
        PCSampling(interval=64),
        PCSampling(window="30ms", every="1s"),
        PCSampling(buffer="1.5GB", drain="20ms", fallback="timing", graphs="graph"),
        PCSampling(include=r"^a+:b %\s(?:c|d)=é$"),
    ],
)
def test_a_mode_is_read_back_from_its_text(mode: PCSampling) -> None:
    assert parsed(str(mode)) == mode


def test_the_text_is_the_shortest() -> None:
    assert str(PCSampling()) == "pcsampling"
    assert str(PCSampling(window=0.03, every="1000ms")) == "pcsampling:window=30ms:every=1s"
    assert str(PCSampling(buffer="512MB", drain="0.2s")) == "pcsampling"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": "2s", "every": "1s"}, "window=2s is longer than its period every=1s; make it"),
        ({"window": "30ms"}, "window=30ms needs every too, as in window=30ms:every=1s"),
        ({"every": "1s"}, "every=1s needs window too"),
        ({"window": "30", "every": "10s"}, "window=30s is longer"),
        ({"window": "1us", "every": "1s"}, r"window must be 1ms to 10min \(units: ns, us, ms, s"),
        ({"every": "2h", "window": "1s"}, "every must be 10ms to 60min .*not '2h'"),
        ({"drain": "1ms"}, "drain must be 10ms to 1min .*not '1ms'"),
        ({"drain": "-1s"}, "drain must be 10ms to 1min .*not '-1s'"),
        ({"drain": float("nan")}, "drain must be 10ms to 1min .*not nan"),
        ({"buffer": "1KB"}, r"buffer must be 1MB to 4GB \(units: B, KB, MB, GB\), not '1KB'"),
        ({"buffer": "8GB"}, "buffer must be 1MB to 4GB"),
        ({"include": "("}, r"include='\(' is no regular expression: missing \)"),
        ({"include": ""}, "include must be a regular expression, not ''"),
        ({"fallback": "none"}, "unknown value of option 'fallback' 'none'; choose one of 'timing'"),
        ({"graphs": "x"}, "unknown value of option 'graphs' 'x'; choose one of 'graph', 'node'"),
    ],
)
def test_what_means_nothing_is_refused_with_what_does(
    options: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        PCSampling(**options)  # type: ignore[arg-type]


def test_an_unknown_option_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match=r"unknown option of mode 'pcsampling' 'x'; .*'buffer'"):
        parsed("pcsampling:x=1")
