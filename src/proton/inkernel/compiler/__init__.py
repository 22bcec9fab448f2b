"""Our place in Triton's compiler.

`instrument` takes and returns the places, `recording_choice` knows which mode is in force,
`compile_hook` is called for every kernel, `stages` stands in for its stages, `mode_passes` names
the passes of a mode, `user_records` and `overridden_files` deal with records in sources and files,
`subprocess_compile` tries strangers' code out, `resources` reads what a kernel needs, `budget`
thins records out, `torch_compile` says what torch.compile keeps from us.
"""
