"""Benchmarks by kernel time, with the arguments that those of `triton.testing` have."""

from proton.runtime.bench import do_bench, do_bench_cudagraph

__all__ = ["do_bench", "do_bench_cudagraph"]
