"""What tests of several rooms share. Fixtures over it are in the conftest.py files."""
