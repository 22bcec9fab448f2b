"""Which lines of the program the time of compiled kernels belongs to.

`join_rows` finds the origins of kernels, `line_times` shares their time out over lines.
"""
