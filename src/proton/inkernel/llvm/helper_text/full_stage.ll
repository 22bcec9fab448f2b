; Flush: a full stage in shared memory is copied into the ring.
define internal void @__proton_full(i32 %base, i32 %count, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
entry:
  %left = and i32 %count, <STAGE_MASK>
  %full = icmp eq i32 %left, 0
  br i1 %full, label %move, label %out
move:
  call void @__proton_move(i32 %base, i32 %count, i32 <STAGE>, ptr addrspace(1) %scratch)
  br label %out
out:
  ret void
}
