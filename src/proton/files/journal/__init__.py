"""Journals: the open phase of a session, as its process left it."""
