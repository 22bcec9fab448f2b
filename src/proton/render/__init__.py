"""Rendering: a Profile as text for people. Reads no files, computes nothing analysis should."""
