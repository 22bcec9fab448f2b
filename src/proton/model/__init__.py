"""The model: one immutable `Profile` that every reader returns and every viewer shows.

`frame` and `metric` are the words, `tree` and `trace` the two shapes data takes, `device` what it
ran on, `sampling` what instruction sampling saw, `profile` the whole, `kinds` how metrics add up.
`merge` makes one of several parts, `merge_ranks` one of several processes (`ranks`). Nothing here
reads files, prints, or knows how data was recorded.
"""
