"""The cupti backend: kernels, copies and graphs of NVIDIA GPUs, by way of NVIDIA's CUPTI.

The map of the room: `backend` is the backend; `candidates` finds the libcupti to open, `driver` is
what the machine says of its GPUs, `architecture` how new they are; `hub` opens both libraries
through the native core, which does the work; `mode` reads the mode string; `sampling` prepares for
sampling instructions, `permission` says whether the machine lets it, by what `nvml` tells of the
GPUs, `probe` has another process ask the GPU, `problems` tells of what goes wrong later, and
`cubins` has what Triton keeps of its kernels' code; `autotune` keeps what Triton's autotuner tried;
`fallback` times kernels with CUDA events (`cuda_events`) where somebody else holds CUPTI, and
`holders` says who.
"""
