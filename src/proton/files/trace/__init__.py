"""The timeline as a chrome trace, both ways, and the order of lanes and spans."""
