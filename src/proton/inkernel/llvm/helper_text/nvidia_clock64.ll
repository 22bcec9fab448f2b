; As with 32 bits; bits 32 to 47 of the clock are the tag's payload.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "{ .reg .b64 t; .reg .b32 l, h; mov.u64 t, %clock64; mov.b64 {l, h}, t; prmt.b32 h, h, $1, 0x7610; @$2 <STORE> [$0], {h, l}; }", "<REGISTER>,r,b,~{memory}"(<HANDLE> %address, i32 %tag, i1 %lead)
  ret void
}
