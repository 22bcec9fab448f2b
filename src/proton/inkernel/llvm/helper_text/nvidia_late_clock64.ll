; As with 32 bits; bits 32 to 47 of the clock are the tag's payload.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  %clock = call i64 @__proton_cycles()
  %low = trunc i64 %clock to i32
  %shifted = lshr i64 %clock, 32
  %high = trunc i64 %shifted to i32
  %payload = and i32 %high, 65535
  %full_tag = or i32 %tag, %payload
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %full_tag, i32 %low, i1 %lead)
  ret void
}
