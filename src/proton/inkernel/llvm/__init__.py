"""LLVM text as Triton's `llir` stage prints it: reading it, and turning records into stores.

`module` reads functions and blocks and prints them back; `carrier_line` one line that carries an op
of ours; `debug_info` where a line comes from; `counting` gives each record the number of bytes
that its warp wrote before it; `selection` and `plan` say who records and where it goes; `regions`
makes the record map; `helpers`, `nvidia` and `amd` are the functions that the kernel calls, as LLVM
text; `emit` puts them in; `accesses`, `origins`, `access_marks`, `sites` and `access_counting` are
how memory accesses are found, marked and counted, with `llvm_types`; `callbacks` and `linking`
bring functions of the user's in; `lower_text` is the whole way, for the compile hook. The passes
that use this room are in `inkernel.passes`.
"""
