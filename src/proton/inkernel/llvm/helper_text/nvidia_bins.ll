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
