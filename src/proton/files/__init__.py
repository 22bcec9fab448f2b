"""Reading and writing profile files.

`detect.open_profile` opens a path, `read` turns bytes into a `Profile`, `write` a `Profile` into
bytes. Below them: `schema` says what the hatchet format is, `hatchet` and `chrome` are one format
each, `summary` is our own `proton` key, `decode_json` and `decode_msgpack` turn bytes into plain
objects at any depth, `checks` says what a value is, `frames` what kind of frame a name is;
`lanes`, `flows` and `event_fields` are the rows, arrows and fields of a chrome trace; `parts` finds
the `.part_N` files of a session.
"""
