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
