"""Reading and writing profile files.

`detect.open_profile` opens a path, `read` turns bytes into a `Profile`, `write` a `Profile` into
bytes. Below them: `schema` says what the hatchet format is, `hatchet`, `chrome` and `perfetto` are
one format each, `summary` is our own `proton` key and `details` its `kernels`, `decode_json` and
`decode_msgpack` turn bytes into plain objects at any depth, `checks` says what a value is, `frames`
what kind of frame a name is; `lanes`, `flows` and `event_fields` are the rows, arrows and fields of
a chrome trace, `counters` the metrics of any trace; `parts` finds the `.part_N` files of a session,
`growing` the recordings of a folder, also those that a job still writes.

Perfetto: `perfetto` reads with `perfetto_clocks`, `perfetto_events` and `perfetto_assemble`;
`perfetto_write` writes with `perfetto_nesting`; `perfetto_tables` is what we add, `perfetto_fields`
the numbers of its protos, `protobuf` the wire format, `ordering` the order of its spans.

Formats of other tools, which are only written: `export` is their table; `speedscope`, `pprof` and
`collapsed` are made of `stacks`, `comma_separated` and `parquet` of `columns`. Ranks: `rank_files`
finds and merges the files of many processes, `ranks` is what a merged file says of them.
"""
