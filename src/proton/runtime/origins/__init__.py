"""Where the kernels of torch.compile come from: lines of the program, nodes of its graph.

`watch` stands where inductor says which nodes a kernel is made of, and answers for kernels by name.
`graph_nodes` makes lines of nodes and their stack traces. Code from a cache says no more of nodes:
then `side_file` has what an earlier process noted beside the generated file, or `wrapper_text`
reads that file, with the one line for each launch that inductor's cache keeps.
No setting of torch is changed, so its caches stay valid. Nothing here imports torch.
"""
