"""TTIR and TTGIR as text: reading it, editing it, and our operations in it."""

from proton.inkernel.ir.module import Module

__all__ = ["Module"]
