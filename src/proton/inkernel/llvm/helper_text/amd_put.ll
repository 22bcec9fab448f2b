; Stores two words of a record; the clock is read before, and stays between the barriers.
define internal void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %word, i1 %lead) <INLINE> {
entry:
  <ADDRESS>
  %half = insertelement <2 x i32> poison, i32 %tag, i64 0
  %record = insertelement <2 x i32> %half, i32 %word, i64 1
  br i1 %lead, label %write, label %out
write:
  store <2 x i32> %record, ptr addrspace(<SPACE>) %at, align 8
  br label %out
out:
  ret void
}
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <BARRIER>
  %clock = call i64 @llvm.amdgcn.s.memtime()
  %low = trunc i64 %clock to i32
  <PAYLOAD>
  <LATE_BARRIER>
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %full_tag, i32 %low, i1 %lead)
  <LATE_BARRIER>
  ret void
}
