;; record
; One record, and the second one of a value; each gives the bytes written after it.
define internal i32 @__proton_record(<HANDLE> %base, i32 %count, i32 %tag, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
  %offset = and i32 %count, <WINDOW_MASK>
  call void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead)
  %next = add i32 %count, <RECORD>
  <AFTER_RECORD>
  ret i32 %next
}
define internal i32 @__proton_value(<HANDLE> %base, i32 %count, i32 %high, i32 %low, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
  %offset = and i32 %count, <WINDOW_MASK>
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %high, i32 %low, i1 %lead)
  %next = add i32 %count, <RECORD>
  <AFTER_RECORD>
  ret i32 %next
}
;; copy
; Copies records out of shared memory. The lanes that are here together copy, if the first lane, which wrote them, is among them.
define internal void @__proton_copy(i32 %from, ptr addrspace(1) %to, i32 %size) <INLINE> {
entry:
  %gang = call i32 @__proton_gang()
  %first_lane = lshr i32 %gang, 16
  %has_writer = icmp ne i32 %first_lane, 0
  br i1 %has_writer, label %start, label %out
start:
  %rank = and i32 %gang, 255
  %members = lshr i32 %gang, 8
  %lanes = and i32 %members, 255
  %begin = shl i32 %rank, 3
  %step = shl i32 %lanes, 3
  br label %head
head:
  %at = phi i32 [ %begin, %start ], [ %after, %body ]
  %more = icmp ult i32 %at, %size
  br i1 %more, label %body, label %out
body:
  %address = add i32 %from, %at
  %source = inttoptr i32 %address to ptr addrspace(3)
  %record = load <2 x i32>, ptr addrspace(3) %source, align 8
  %at64 = zext i32 %at to i64
  %target = getelementptr i8, ptr addrspace(1) %to, i64 %at64
  store <2 x i32> %record, ptr addrspace(1) %target, align 8
  %after = add i32 %at, %step
  br label %head
out:
  call void @__proton_regroup()
  ret void
}
;; drain_stage
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
;; drain_ring
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
;; full_stage
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
;; full_ring
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
