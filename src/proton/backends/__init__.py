"""Backends: each turns GPU (or interpreted) work into events for one session's sink.

`base` holds the protocol and the table; one module or package per backend beside it.
"""
