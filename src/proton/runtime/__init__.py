"""Recording: sessions, scopes, states, hooks. Never imports analysis or rendering.

| module | what is in it |
|---|---|
| `sessions` | the open sessions of the process; start, activate, deactivate, finalize; flags |
| `open_session` | one open session: native core, backends, hook, phases, the head of its files |
| `request`, `options`, `environment` | what is asked of a session, checked, with the environment |
| `phase_files` | where phases are written, or else |
| `source_files` | what source files are when a recording ends |
| `autosave`, `background` | what is saved in case the process is killed, and the thread that does |
| `scopes`, `profile` | regions, and how they decorate functions |
| `hooks`, `launch_hook`, `tensor_metrics` | launch metadata and metrics on their way to the core |
| `phases`, `nvtx` | looking into an open session; NVTX ranges as scopes |
| `bench` | kernel time of a function, by a session of its own |
| `command_line` | the one session of the `proton` command |
"""
