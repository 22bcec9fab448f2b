; The clock is read next to the store; nothing of the kernel moves between.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "{ .reg .b32 t; mov.u32 t, %clock; @$2 <STORE> [$0], {$1, t}; }", "<REGISTER>,r,b,~{memory}"(<HANDLE> %address, i32 %tag, i1 %lead)
  ret void
}
