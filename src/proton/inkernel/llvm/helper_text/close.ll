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
