; Adds the values of the lanes that are here to a number of 64 bits; halves are summed apart, so nothing overflows.
define internal void @__proton_add_lanes(ptr addrspace(1) %at, i32 %value) <INLINE> {
  call void asm sideeffect "{ .reg .b32 m, l, h, r; .reg .b64 t, u; .reg .pred p; activemask.b32 m; and.b32 l, $1, 65535; shr.u32 h, $1, 16; redux.sync.add.u32 l, l, m; redux.sync.add.u32 h, h, m; mul.wide.u32 t, h, 65536; cvt.u64.u32 u, l; add.u64 t, t, u; mov.u32 r, %lanemask_lt; and.b32 r, r, m; setp.eq.u32 p, r, 0; @p red.global.add.u64 [$0], t; }", "l,r"(ptr addrspace(1) %at, i32 %value) convergent
  ret void
}
