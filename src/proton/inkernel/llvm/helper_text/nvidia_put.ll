; Stores two words of a record.
define internal void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %word, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "@$3 <STORE> [$0], {$1, $2};", "<REGISTER>,r,r,b<CLOBBER>"(<HANDLE> %address, i32 %tag, i32 %word, i1 %lead)
  ret void
}
