"""Names of formats and constants of files; no code. Python's side of `format.h`.

A file is a list of two: the root node and the device map. What Proton adds stands under one key
`proton` of the root node, where other readers of the format do not look.
"""

from __future__ import annotations

ROOT_NAME = "ROOT"
PROTON_KEY = "proton"

HATCHET = "hatchet"
HATCHET_MSGPACK = "hatchet_msgpack"
CHROME_TRACE = "chrome_trace"
PERFETTO = "perfetto"
TREE_FORMATS = (HATCHET, HATCHET_MSGPACK)
TRACE_FORMATS = (CHROME_TRACE, PERFETTO)
FORMATS = TREE_FORMATS + TRACE_FORMATS
# How the files of a format end; all but one are named like it.
SUFFIXES = {name: name for name in FORMATS} | {PERFETTO: "pftrace"}
FORMAT_OF_SUFFIX = {suffix: name for name, suffix in SUFFIXES.items()}

# Integers of a file fit into 64 bits, signed or not: what msgpack and native readers can hold.
MIN_INT = -(2**63)
MAX_INT = 2**64 - 1
