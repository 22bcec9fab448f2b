; Where a warp's ring and header are, who of it writes, and the first stamp: global time, then clock.
define internal ptr addrspace(1) @__proton_header(ptr addrspace(1) %scratch) <INLINE> {
  <CTA_COUNT>
  %ctas64 = zext i32 %ctas to i64
  %streams = mul i64 %ctas64, <STREAMS>
  %rings = mul i64 %streams, <RING>
  %slot = call i64 @__proton_slot()
  %before = mul i64 %slot, <HEADER>
  %offset = add i64 %rings, %before
  %header = getelementptr i8, ptr addrspace(1) %scratch, i64 %offset
  ret ptr addrspace(1) %header
}
define internal ptr addrspace(1) @__proton_ring(ptr addrspace(1) %scratch) <INLINE> {
  %slot = call i64 @__proton_slot()
  %offset = mul i64 %slot, <RING>
  %ring = getelementptr i8, ptr addrspace(1) %scratch, i64 %offset
  ret ptr addrspace(1) %ring
}
define internal i1 @__proton_lead() <INLINE> {
  %recorded = call i1 @__proton_recorded()
  %lane = call i32 @__proton_lane()
  %first = icmp eq i32 %lane, 0
  %lead = and i1 %recorded, %first
  ret i1 %lead
}
define internal void @__proton_stamp_open(ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
entry:
  br i1 %lead, label %write, label %out
write:
  %header = call ptr addrspace(1) @__proton_header(ptr addrspace(1) %scratch)
  <OPEN_MAILBOX>
  %at = getelementptr i8, ptr addrspace(1) %header, i64 <START_TIME>
  %time = call i64 @__proton_time()
  %cycles = call i64 @__proton_cycles()
  store i64 %time, ptr addrspace(1) %at, align 8
  %then = getelementptr i8, ptr addrspace(1) %header, i64 <START_CLOCK>
  store i64 %cycles, ptr addrspace(1) %then, align 8
  br label %out
out:
  ret void
}
