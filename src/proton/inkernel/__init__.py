"""In-kernel recording: what puts records into kernels while Triton compiles them.

From the bottom up, each room imports only those before it:

- `ir`: TTIR and TTGIR as text, and our operations in it; `op_groups`: which operations are loads;
  `layout`: where records stand in memory.
- `modes`: the options of in-kernel modes and the table of their names.
- `llvm`: LLVM text, and what becomes of records in it.
- `passes`: one file for each edit; `pipeline` finds and runs them.
- `compiler`: our place in Triton's compiler, and which mode is in force.
- `dsl` is behind `proton.language`; `tool`, `tool_layouts` and `tool_files` are for tools of one's
  own, with `memory_counts` for what kernels counted about memory and `clang` for callbacks in C++.

docs/internals/passes.md is the walk through it.
"""
