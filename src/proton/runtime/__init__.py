"""Recording: sessions, scopes, states, hooks. Never imports analysis or rendering.

| module | what is in it |
|---|---|
| `session` | the open sessions of the process; start, activate, deactivate, finalize |
| `recording` | one open session: native recording, backends, hook, phases |
| `phase_files`, `output`, `ownership`, `names` | where phases are written, or else |
| `options`, `header` | arguments and environment, checked; what a file says of its recording |
| `scope`, `state`, `profile`, `wrapping` | regions, and how they decorate functions |
| `hooks`, `launch_hook`, `tensor_metrics` | launch metadata and metrics on their way to the core |
| `phases`, `flags` | looking into an open session; process-wide switches |
| `keeper`, `safekeeping`, `journal` | what is saved of open sessions beside the program, and when |
| `notices`, `process` | what is said aloud; what happens when the process ends |
| `command_line` | the one session of the `proton` command |
"""
