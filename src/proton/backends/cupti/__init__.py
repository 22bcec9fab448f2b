"""The cupti backend: kernels, copies and graphs of NVIDIA GPUs, by way of NVIDIA's CUPTI.

The map of the room: `backend` is the backend, `cupti_mode` reads its mode string. `hub` opens
libcupti and the driver through the native core, which does the work, and lets go of them;
`candidates` finds the libcupti to open, `driver` is what the machine says of its driver,
`gpu_capability` what it says of its GPUs. For instruction sampling, `sampling_mode` has the
options, `sampling_setup` prepares the process, `sampling_probe` has another process ask the GPU,
and `cubins` has what Triton keeps of its kernels' code. `autotune_watch` keeps what Triton's
autotuner tried, `inductor_watch` tells what torch.compile tries from the program. `event_timer`
times kernels with CUDA events (`cuda_events`) where another tool holds CUPTI, and `other_tools`
says which.
"""
