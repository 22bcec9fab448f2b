"""Profiles as lines of text: the tree, lists and tables of `proton-viewer`, and digests."""
