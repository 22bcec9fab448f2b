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
