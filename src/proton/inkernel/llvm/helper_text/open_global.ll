; Opens a warp's buffer with its ring in global memory.
define internal i64 @__proton_open(ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
  call void @__proton_stamp_open(ptr addrspace(1) %scratch, i1 %lead)
  %ring = call ptr addrspace(1) @__proton_ring(ptr addrspace(1) %scratch)
  %base = ptrtoint ptr addrspace(1) %ring to i64
  ret i64 %base
}
