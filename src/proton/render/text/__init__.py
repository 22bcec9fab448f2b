"""Profiles as lines of text: the views of `proton-viewer`, and digests.

`view` puts a whole view together: `head` above, `terminal` (a tree) or `table` (a list) below, with
`row_labels` and `turn_labels` for rows that say more than a name. `view_content` decides what is
drawn, of two profiles `view_difference`. `region_tables`, `annotated_source`, `sass` and `digest`
are views of their own; `aligned_table` lays out their tables.
"""
