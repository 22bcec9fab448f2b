"""LLVM text as Triton's `llir` stage prints it: reading it, and turning records into stores.

`module` reads functions and blocks and prints them back, `text` single lines, `carrier_line` a line
that carries an op of ours, `partitions` the warps of specialised kernels. `counting` gives each
record the number of bytes that its warp wrote before it; `allocation` and `plan` say who records
and where it goes; `regions` makes the record map; `helpers` are the functions that the kernel
calls; `emit` puts them in; `verify` checks the edges. `accesses`, `access_marks` and `access_sites`
find, mark and count memory accesses. `linking` brings functions of the user's in,
`subprocess_check` has LLVM read them first. The passes that use this room are in `inkernel.passes`.
"""
