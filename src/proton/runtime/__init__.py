"""Recording: sessions, scopes, states, hooks. Never imports analysis or rendering.

| module | what is in it |
|---|---|
| `sessions` | the open sessions of the process; start, activate, deactivate, finalize |
| `open_session` | one open session: native core, backends, hook, phases |
| `phase_files`, `output`, `ownership`, `file_names` | where phases are written, or else |
| `request`, `options` | what is asked of a session; the same checked, with the environment |
| `header`, `source_files` | what a file says of its session |
| `scope`, `state`, `profile`, `wrapping` | regions, and how they decorate functions |
| `hooks`, `launch_hook`, `tensor_metrics` | launch metadata and metrics on their way to the core |
| `phases`, `flags` | looking into an open session; process-wide switches |
| `background`, `autosave`, `journal` | what is saved beside the program, in case it is killed |
| `notices`, `process` | what is said aloud; what happens when the process ends |
| `command_line` | the one session of the `proton` command |
"""
