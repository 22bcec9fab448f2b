; A warp's counters stand behind all headers: for each site what its lanes did, and the first address.
define internal ptr addrspace(1) @__proton_counters(ptr addrspace(1) %scratch) <INLINE> {
  <CTA_COUNT>
  %ctas64 = zext i32 %ctas to i64
  %streams = mul i64 %ctas64, <STREAMS>
  %before = mul i64 %streams, <SLOT>
  %slot = call i64 @__proton_slot()
  %own = mul i64 %slot, <COUNTERS>
  %offset = add i64 %before, %own
  %counters = getelementptr i8, ptr addrspace(1) %scratch, i64 %offset
  ret ptr addrspace(1) %counters
}
define internal void @__proton_count_out(ptr addrspace(1) %counters, i64 %offset, i32 %count, i1 %recorded) <INLINE> {
entry:
  br i1 %recorded, label %add, label %out
add:
  %at = getelementptr i8, ptr addrspace(1) %counters, i64 %offset
  call void @__proton_add_lanes(ptr addrspace(1) %at, i32 %count)
  br label %out
out:
  ret void
}
