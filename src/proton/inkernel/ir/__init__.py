"""TTIR and TTGIR as text: reading it, editing it, and our operations in it.

`parse` reads text into the `Module` of `module`; `locations` finds the user's line of an operation,
`roots` what a value stands for; `carriers` are our operations, `nesting` their rules.
"""

from proton.inkernel.ir.module import Module

__all__ = ["Module"]
