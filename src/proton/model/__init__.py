"""The model: one immutable `Profile` that every reader returns and every viewer shows.

`schema` is what fields say about themselves: names in files, meaning, merging. `frame` and `metric`
are the words, `tree` and `trace` the two shapes data takes, `device` what it ran on, `summary` what
a file says of the recording as a whole: `sampling`, `in_kernel` (with `ctas`), `origins` and
`ranks` are parts of it. `profile` is the whole. `merge` makes one of several phases, with
`merge_sampling` and `merge_in_kernel`, `merge_ranks` one of several processes. Nothing here reads
files, prints, or knows how data was recorded.
"""
