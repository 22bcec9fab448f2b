"""In-kernel recording: modes, and the passes that put records into kernels.

`reading`, `ir`, `locations` and `values` know TTGIR text, `llvm` knows LLVM text; `carriers` are
our operations in them, `verify` and `nesting` their rules; `passes` edit, `pipeline` runs them.
`dsl` and `emission` are what `proton.language` calls. `op_groups` says which operations are loads
and so on. `mode`, `modes` and `sampling` are options, `recipe` the passes of a mode.
`memory` and `tensor_ranges` read what kernels counted about memory; `tool`, `tool_layouts` and
`tool_files` are for tools of one's own.
docs/internals/passes.md is the walk through it.
"""
