"""The version of Proton, its only home."""

__version__ = "0.1.0"
