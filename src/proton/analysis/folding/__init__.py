"""Trees with fewer rows: contexts that are shown as one, and the hottest lines of each kernel.

`library_frames` tells which contexts can be hidden, `fold_contexts` puts them and the turns of
loops together, `fold_two` those of two profiles alike, `fold_lines` keeps the lines that matter,
`work_groups` makes tables by module, operator, kernel or line.
"""
