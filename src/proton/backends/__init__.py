"""Backends: each turns GPU (or interpreted) work into events of one session.

`common.base` has the protocol and the table of backends, `common.foreign` finds those of other
packages. `cupti`, `instrumentation` and
`interpreter` are one backend each; the first two drive the native core. `default_backend` picks one
where a session names none.
"""
