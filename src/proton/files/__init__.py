"""Reading and writing profile files: one format a module, `detect.open_profile` picks the reader."""
