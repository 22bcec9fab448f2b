;; select
; Who records. The bit of a recorded warp is set in <WARPS>; its stream is the number of bits below it.
define internal i1 @__proton_recorded() <INLINE> {
  %warp = call i32 @__proton_warp()
  %warp64 = zext i32 %warp to i64
  %bit = lshr i64 <WARPS>, %warp64
  %set = trunc i64 %bit to i1
  %cta = call i32 @__proton_cta()
  <CTA_TAKEN>
  %both = and i1 %set, %taken
  ret i1 %both
}
define internal i64 @__proton_stream() <INLINE> {
  %warp = call i32 @__proton_warp()
  %warp64 = zext i32 %warp to i64
  %bit = shl i64 1, %warp64
  %below = add i64 %bit, -1
  %earlier = and i64 %below, <WARPS>
  %stream64 = call i64 @llvm.ctpop.i64(i64 %earlier)
  ret i64 %stream64
}
define internal i64 @__proton_slot() <INLINE> {
  %stream = call i64 @__proton_stream()
  %cta = call i32 @__proton_cta()
  <CTA_SLOT>
  %slot64 = zext i32 %slot to i64
  %first = mul i64 %slot64, <STREAMS>
  %index = add i64 %first, %stream
  ret i64 %index
}
;; header
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
;; open_shared
; Opens a warp's buffer with its ring in shared memory, behind the kernel's own.
define internal i32 @__proton_open(ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
  call void @__proton_stamp_open(ptr addrspace(1) %scratch, i1 %lead)
  %stream64 = call i64 @__proton_stream()
  %stream = trunc i64 %stream64 to i32
  %offset = mul i32 %stream, <STAGE>
  %start = ptrtoint ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 <OFFSET>) to i32
  %base = add i32 %start, %offset
  ret i32 %base
}
;; open_global
; Opens a warp's buffer with its ring in global memory.
define internal i64 @__proton_open(ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
  call void @__proton_stamp_open(ptr addrspace(1) %scratch, i1 %lead)
  %ring = call ptr addrspace(1) @__proton_ring(ptr addrspace(1) %scratch)
  %base = ptrtoint ptr addrspace(1) %ring to i64
  ret i64 %base
}
;; callback
; The buffer of the user's callbacks, one for the launch behind everything of ours.
define internal ptr addrspace(1) @__proton_callback_buffer(ptr addrspace(1) %scratch) <INLINE> {
  %grid = call i32 @__proton_grid()
  %ctas = zext i32 %grid to i64
  %before = mul i64 %ctas, <BEFORE_CALLBACK>
  %buffer = getelementptr i8, ptr addrspace(1) %scratch, i64 %before
  ret ptr addrspace(1) %buffer
}
;; close
; Closes a warp's buffer: the second stamp, then what is still in shared memory, then the header.
define internal void @__proton_close(<HANDLE> %base, i32 %count, ptr addrspace(1) %scratch, i1 %lead) <INLINE> {
entry:
  %time = call i64 @__proton_time()
  %cycles = call i64 @__proton_cycles()
  <DRAIN>
  br i1 %lead, label %write, label %out
write:
  %header = call ptr addrspace(1) @__proton_header(ptr addrspace(1) %scratch)
  %cta = call i32 @__proton_cta()
  %warp = call i32 @__proton_warp()
  %core = call i32 @__proton_core()
  %who0 = insertelement <4 x i32> poison, i32 <MAGIC_NUMBER>, i64 0
  %who1 = insertelement <4 x i32> %who0, i32 %cta, i64 1
  %who2 = insertelement <4 x i32> %who1, i32 %warp, i64 2
  %who3 = insertelement <4 x i32> %who2, i32 %core, i64 3
  store <4 x i32> %who3, ptr addrspace(1) %header, align 16
  %sizes = getelementptr i8, ptr addrspace(1) %header, i64 <WRITTEN_BYTES>
  %size0 = insertelement <2 x i32> poison, i32 %count, i64 0
  %size1 = insertelement <2 x i32> %size0, i32 <RING>, i64 1
  store <2 x i32> %size1, ptr addrspace(1) %sizes, align 8
  %end = getelementptr i8, ptr addrspace(1) %header, i64 <END_TIME>
  store i64 %time, ptr addrspace(1) %end, align 8
  %then = getelementptr i8, ptr addrspace(1) %header, i64 <END_CLOCK>
  store i64 %cycles, ptr addrspace(1) %then, align 8
  br label %out
out:
  ret void
}
