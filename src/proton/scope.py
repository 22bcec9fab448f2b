"""Scopes: user-named regions. `proton.scope` is the class, this module holds its family."""

from proton.runtime.scopes import cpu_timed_scope, enter_scope, exit_scope, scope

__all__ = ["cpu_timed_scope", "enter_scope", "exit_scope", "scope"]
