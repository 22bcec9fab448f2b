"""Rendering: a Profile as text for people. Never reads files, never computes what analysis should."""
