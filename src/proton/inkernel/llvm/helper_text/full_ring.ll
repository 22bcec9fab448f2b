; Flush: a full ring in global memory is drained by the host. Mailbox: bytes written (to the host), bytes drained (from it). A host that does not drain in time is not waited for again: the device answers for it with all bits set.
define internal void @__proton_notify(i32 %count, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
entry:
  br i1 %lead, label %tell, label %out
tell:
  %header = call ptr addrspace(1) @__proton_header(ptr addrspace(1) %scratch)
  %written = getelementptr i8, ptr addrspace(1) %header, i64 <MAILBOX_WRITTEN>
  %drained = getelementptr i8, ptr addrspace(1) %header, i64 <MAILBOX_DRAINED>
  store atomic i32 %count, ptr addrspace(1) %written release, align 4
  br label %look
look:
  %looks = phi i32 [ 0, %tell ], [ %again, %wait ]
  %answer = load atomic i32, ptr addrspace(1) %drained acquire, align 4
  %done = icmp eq i32 %answer, %count
  %dead = icmp eq i32 %answer, -1
  %stop = or i1 %done, %dead
  br i1 %stop, label %out, label %wait
wait:
  %again = add i32 %looks, 1
  %more = icmp ult i32 %again, <SPIN>
  br i1 %more, label %look, label %give_up
give_up:
  store atomic i32 -1, ptr addrspace(1) %drained release, align 4
  br label %out
out:
  call void @__proton_regroup()
  ret void
}
define internal void @__proton_full(i64 %base, i32 %count, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
entry:
  %left = and i32 %count, <RING_MASK>
  %full = icmp eq i32 %left, 0
  br i1 %full, label %tell, label %out
tell:
  call void @__proton_notify(i32 %count, ptr addrspace(1) %scratch, i1 %lead)
  br label %out
out:
  ret void
}
