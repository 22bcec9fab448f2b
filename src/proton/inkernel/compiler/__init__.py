"""Our place in Triton's compiler: the mode in force, the passes of a mode, and the stages."""
