"""Backends: each turns GPU (or interpreted) work into events of one session.

`base` holds the protocol and the table; one module or package per backend beside it.
"""
