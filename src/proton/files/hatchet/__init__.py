"""The tree as hatchet JSON and msgpack, both ways."""
