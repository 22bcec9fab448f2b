"""The in-kernel modes: their options, their classes, and the table of their names."""
