"""Perfetto's protobuf format: reading, of our own files and of others."""
