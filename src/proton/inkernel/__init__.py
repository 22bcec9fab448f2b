"""In-kernel recording: the modes and, later, the passes that put records into kernels."""
