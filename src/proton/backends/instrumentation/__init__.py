"""The instrumentation backend: what kernels record about themselves, brought into a session.

`backend` starts and ends it for one session, `launch_path` stands in Triton's launch path,
`loaded_kernels` knows the kernels that record, `report` turns their sums into `RecordedKernel`s,
`calibration` measures what a record costs. Buffers, copies and decoding are the native recorder's.
"""
