"""Reading and writing profile files.

Doors: `detect.open_profile` opens a path, `read` turns bytes into a `Profile`, `write` a `Profile`
into bytes; `recognize` tells files apart by how they begin; `growing` finds the recordings of a
folder, also those that a job still writes, `rank_files` those of many processes, which `same_run`
compares; `source_text` reads the sources that profiles name, and `redact` leaves out what others
shall not see.

Formats, which do not know each other: `hatchet` is the tree, `trace` the chrome trace, `perfetto`
Perfetto's, `journal` what a session leaves of itself, `export` what only other tools read.

Below them: `summary` is our own `proton` key, `encoding` turns bytes into plain values and those
into dataclasses of the model, `schema` has the names of the formats.
"""
