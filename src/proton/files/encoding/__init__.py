"""Bytes and plain values: what a value from a file is, and codecs that know no format of ours."""
