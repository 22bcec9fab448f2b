;; nvidia
; Who and when on an NVIDIA GPU.
define internal i32 @__proton_thread() <INLINE> {
  %thread = call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"()
  ret i32 %thread
}
define internal i32 @__proton_warp() <INLINE> {
  %thread = call i32 @__proton_thread()
  %warp = lshr i32 %thread, 5
  ret i32 %warp
}
define internal i32 @__proton_lane() <INLINE> {
  %thread = call i32 @__proton_thread()
  %lane = and i32 %thread, 31
  ret i32 %lane
}
define internal i32 @__proton_cta() <INLINE> {
  %x = call i32 asm sideeffect "mov.u32 $0, %ctaid.x;", "=r"()
  %y = call i32 asm sideeffect "mov.u32 $0, %ctaid.y;", "=r"()
  %z = call i32 asm sideeffect "mov.u32 $0, %ctaid.z;", "=r"()
  %nx = call i32 asm sideeffect "mov.u32 $0, %nctaid.x;", "=r"()
  %ny = call i32 asm sideeffect "mov.u32 $0, %nctaid.y;", "=r"()
  %planes = mul i32 %z, %ny
  %row = add i32 %planes, %y
  %rows = mul i32 %row, %nx
  %cta = add i32 %rows, %x
  ret i32 %cta
}
define internal i32 @__proton_grid() <INLINE> {
  %nx = call i32 asm sideeffect "mov.u32 $0, %nctaid.x;", "=r"()
  %ny = call i32 asm sideeffect "mov.u32 $0, %nctaid.y;", "=r"()
  %nz = call i32 asm sideeffect "mov.u32 $0, %nctaid.z;", "=r"()
  %plane = mul i32 %nx, %ny
  %grid = mul i32 %plane, %nz
  ret i32 %grid
}
define internal i64 @__proton_time() <INLINE> {
  %time = call i64 asm sideeffect "mov.u64 $0, %globaltimer;", "=l,~{memory}"()
  ret i64 %time
}
define internal i64 @__proton_cycles() <INLINE> {
  %cycles = call i64 asm sideeffect "mov.u64 $0, %clock64;", "=l,~{memory}"()
  ret i64 %cycles
}
define internal i32 @__proton_core() <INLINE> {
  %core = call i32 asm sideeffect "mov.u32 $0, %smid;", "=r"()
  ret i32 %core
}
define internal i32 @__proton_gang() <INLINE> {
  %gang = call i32 asm sideeffect "{ .reg .b32 m, r, n, f; activemask.b32 m; bar.warp.sync m; mov.u32 r, %lanemask_lt; and.b32 r, r, m; popc.b32 r, r; popc.b32 n, m; shl.b32 n, n, 8; and.b32 f, m, 1; shl.b32 f, f, 16; or.b32 n, n, f; or.b32 $0, r, n; }", "=r,~{memory}"() convergent
  ret i32 %gang
}
define internal void @__proton_regroup() <INLINE> {
  call void asm sideeffect "{ .reg .b32 m; activemask.b32 m; bar.warp.sync m; }", "~{memory}"() convergent
  ret void
}
;; nvidia_put
; Stores two words of a record.
define internal void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %word, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "@$3 <STORE> [$0], {$1, $2};", "<REGISTER>,r,r,b<CLOBBER>"(<HANDLE> %address, i32 %tag, i32 %word, i1 %lead)
  ret void
}
;; nvidia_clock32
; The clock is read next to the store; nothing of the kernel moves between.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "{ .reg .b32 t; mov.u32 t, %clock; @$2 <STORE> [$0], {$1, t}; }", "<REGISTER>,r,b,~{memory}"(<HANDLE> %address, i32 %tag, i1 %lead)
  ret void
}
;; nvidia_clock64
; As with 32 bits; bits 32 to 47 of the clock are the tag's payload.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <ADDRESS>
  call void asm sideeffect "{ .reg .b64 t; .reg .b32 l, h; mov.u64 t, %clock64; mov.b64 {l, h}, t; prmt.b32 h, h, $1, 0x7610; @$2 <STORE> [$0], {h, l}; }", "<REGISTER>,r,b,~{memory}"(<HANDLE> %address, i32 %tag, i1 %lead)
  ret void
}
;; nvidia_late_clock32
; The clock is read here; its store may come later.
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  %clock = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r,~{memory}"()
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %clock, i1 %lead)
  ret void
}
;; nvidia_late_clock64
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
;; nvidia_count
; Adds the values of the lanes that are here to a number of 64 bits; halves are summed apart, so nothing overflows.
define internal void @__proton_add_lanes(ptr addrspace(1) %at, i32 %value) <INLINE> {
  call void asm sideeffect "{ .reg .b32 m, l, h, r; .reg .b64 t, u; .reg .pred p; activemask.b32 m; and.b32 l, $1, 65535; shr.u32 h, $1, 16; redux.sync.add.u32 l, l, m; redux.sync.add.u32 h, h, m; mul.wide.u32 t, h, 65536; cvt.u64.u32 u, l; add.u64 t, t, u; mov.u32 r, %lanemask_lt; and.b32 r, r, m; setp.eq.u32 p, r, 0; @p red.global.add.u64 [$0], t; }", "l,r"(ptr addrspace(1) %at, i32 %value) convergent
  ret void
}
;; nvidia_bins
; What the table stands on. `same` says whether all lanes of the warp are here, each with a true claim and the number of lane 0. `like` groups the lanes of a mask by bin: bit 0 says that this lane is the first of its group, bit 1 the first of all with a bin, from bit 8 on stands how many the group has.
define internal i32 @__proton_together() <INLINE> {
  %mask = call i32 asm sideeffect "activemask.b32 $0;", "=r"() convergent
  ret i32 %mask
}
define internal void @__proton_rejoin(i32 %mask) <INLINE> {
  call void asm sideeffect "bar.warp.sync $0;", "r"(i32 %mask) convergent
  ret void
}
define internal i1 @__proton_same(i32 %number, i1 %claim) <INLINE> {
  %same = call i1 asm sideeffect "{ .reg .b32 m, n; .reg .pred p; activemask.b32 m; shfl.sync.idx.b32 n, $1, 0, 31, m; setp.eq.and.u32 p, n, $1, $2; setp.eq.and.u32 p, m, -1, p; vote.sync.all.pred $0, p, m; }", "=b,r,b"(i32 %number, i1 %claim) convergent
  ret i1 %same
}
define internal void @__proton_add_warp(ptr addrspace(1) %at, i1 %is_lane0) <INLINE> {
  call void asm sideeffect "@$1 red.global.add.u64 [$0], 32;", "l,b"(ptr addrspace(1) %at, i1 %is_lane0)
  ret void
}
define internal i32 @__proton_like(i64 %bin, i32 %mask, i32 %lower) <INLINE> {
  %like = call i32 asm sideeffect "{ .reg .b32 g, n, f, b; .reg .pred p, q; match.any.sync.b64 g, $1, $2; setp.ne.u64 p, $1, 0; vote.sync.ballot.b32 b, p, $2; popc.b32 n, g; shl.b32 n, n, 8; and.b32 f, $3, b; setp.eq.u32 q, f, 0; selp.b32 f, 2, 0, q; or.b32 n, n, f; and.b32 g, $3, g; setp.eq.u32 q, g, 0; selp.b32 f, 1, 0, q; or.b32 $0, n, f; }", "=r,l,r,r"(i64 %bin, i32 %mask, i32 %lower) convergent
  ret i32 %like
}
define internal i32 @__proton_lower() <INLINE> {
  %lower = call i32 asm sideeffect "mov.u32 $0, %lanemask_lt;", "=r"()
  ret i32 %lower
}
define internal i64 @__proton_claim(ptr addrspace(1) %at, i64 %value) <INLINE> {
  %old = call i64 asm sideeffect "atom.global.cas.b64 $0, [$1], 0, $2;", "=l,l,l"(ptr addrspace(1) %at, i64 %value)
  ret i64 %old
}
define internal void @__proton_add(ptr addrspace(1) %at, i32 %number) <INLINE> {
  %value = zext i32 %number to i64
  call void asm sideeffect "red.global.add.u64 [$0], $1;", "l,l"(ptr addrspace(1) %at, i64 %value)
  ret void
}
