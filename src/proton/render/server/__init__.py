"""`proton serve`: pages of recordings on this machine, made anew as the recordings grow.

`serve` answers requests, once `guard` lets them in; `site` finds and makes what they ask for, and
`folder` the index of a folder; `browser` opens a page for people.
"""
