"""Command line: one module a command, `main` here picks the command and the exit code."""
