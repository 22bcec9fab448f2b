"""The in-kernel modes.

`instrumentation_mode` has the options that all share, `mode_table` the modes and their names,
`callback_mode` the one that calls functions of the user's.
"""
