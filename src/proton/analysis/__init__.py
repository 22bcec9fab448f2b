"""Analysis: functions from Profile to Profile or to plain findings. Nothing here prints.

Nothing here runs a program or opens a file either; a profile is all that goes in. `prepare` makes a
tree that viewers show, `select` keeps rows of it, `derive` gives columns, `measurements` the values
they come from, `diff` and `compare` set two profiles side by side. `folding` has trees with fewer
rows, `origins` the lines that compiled kernels come from.
"""
