"""Rendering: profiles for people. What can be computed without knowing where it goes is analysis.

`text` has the views of a terminal and the digest, `page` the parts of the page, `html` the page in
one file, `server` pages on demand. All write numbers by `units` and names by `display_names`, and
show machine code by `nvdisasm`.
"""
