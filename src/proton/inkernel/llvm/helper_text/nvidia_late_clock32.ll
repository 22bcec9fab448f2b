; The clock is read here; its store may come later.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  %clock = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r,~{memory}"()
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %clock, i1 %lead)
  ret void
}
