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
