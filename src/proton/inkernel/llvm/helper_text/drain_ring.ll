; Circular: the whole ring goes out when the kernel ends.
define internal void @__proton_drain(i32 %base, i32 %count, ptr addrspace(1) %scratch) <INLINE> {
entry:
  %recorded = call i1 @__proton_recorded()
  br i1 %recorded, label %copy, label %out
copy:
  %over = icmp ugt i32 %count, <STAGE>
  %size = select i1 %over, i32 <STAGE>, i32 %count
  %ring = call ptr addrspace(1) @__proton_ring(ptr addrspace(1) %scratch)
  call void @__proton_copy(i32 %base, ptr addrspace(1) %ring, i32 %size)
  br label %out
out:
  ret void
}
