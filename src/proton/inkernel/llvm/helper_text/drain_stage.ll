; Flush: what is left in the stage goes behind what was copied out when it was full.
define internal void @__proton_move(i32 %base, i32 %count, i32 %size, ptr addrspace(1) %scratch) <INLINE> {
entry:
  %recorded = call i1 @__proton_recorded()
  br i1 %recorded, label %copy, label %out
copy:
  %first = sub i32 %count, %size
  %wrapped = and i32 %first, <RING_MASK>
  %offset = zext i32 %wrapped to i64
  %ring = call ptr addrspace(1) @__proton_ring(ptr addrspace(1) %scratch)
  %to = getelementptr i8, ptr addrspace(1) %ring, i64 %offset
  call void @__proton_copy(i32 %base, ptr addrspace(1) %to, i32 %size)
  br label %out
out:
  ret void
}
define internal void @__proton_drain(i32 %base, i32 %count, ptr addrspace(1) %scratch) <INLINE> {
  %left = and i32 %count, <STAGE_MASK>
  call void @__proton_move(i32 %base, i32 %count, i32 %left, ptr addrspace(1) %scratch)
  ret void
}
