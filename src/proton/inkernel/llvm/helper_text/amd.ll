; Who and when on an AMD GPU. The implicit arguments begin with the number of work groups of each axis, 32 bits each.
define internal i32 @__proton_warp() <INLINE> {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %warp = udiv i32 %thread, <WARP_SIZE>
  %uniform = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %warp)
  ret i32 %uniform
}
define internal i32 @__proton_lane() <INLINE> {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %lane = and i32 %thread, <LANE_MASK>
  ret i32 %lane
}
define internal i32 @__proton_groups(i64 %axis) <INLINE> {
  %arguments = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %offset = shl i64 %axis, 2
  %at = getelementptr i8, ptr addrspace(4) %arguments, i64 %offset
  %groups = load i32, ptr addrspace(4) %at, align 4
  ret i32 %groups
}
define internal i32 @__proton_cta() <INLINE> {
  %x = call i32 @llvm.amdgcn.workgroup.id.x()
  %y = call i32 @llvm.amdgcn.workgroup.id.y()
  %z = call i32 @llvm.amdgcn.workgroup.id.z()
  %nx = call i32 @__proton_groups(i64 0)
  %ny = call i32 @__proton_groups(i64 1)
  %planes = mul i32 %z, %ny
  %row = add i32 %planes, %y
  %rows = mul i32 %row, %nx
  %cta = add i32 %rows, %x
  ret i32 %cta
}
define internal i32 @__proton_grid() <INLINE> {
  %nx = call i32 @__proton_groups(i64 0)
  %ny = call i32 @__proton_groups(i64 1)
  %nz = call i32 @__proton_groups(i64 2)
  %plane = mul i32 %nx, %ny
  %grid = mul i32 %plane, %nz
  ret i32 %grid
}
define internal i64 @__proton_time() <INLINE> {
  %time = call i64 @llvm.amdgcn.s.memrealtime()
  ret i64 %time
}
define internal i64 @__proton_cycles() <INLINE> {
  %cycles = call i64 @llvm.amdgcn.s.memtime()
  ret i64 %cycles
}
define internal i32 @__proton_core() <INLINE> {
  %place = call i32 @llvm.amdgcn.s.getreg(i32 <HW_ID>)
  %die = call i32 @llvm.amdgcn.s.getreg(i32 <XCC_ID>)
  %above = shl i32 %die, 24
  %low = and i32 %place, 16777215
  %core = or i32 %low, %above
  ret i32 %core
}
define internal i32 @__proton_gang() <INLINE> {
  %mask = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  %low = trunc i64 %mask to i32
  %shifted = lshr i64 %mask, 32
  %high = trunc i64 %shifted to i32
  %part = call i32 @llvm.amdgcn.mbcnt.lo(i32 %low, i32 0)
  %rank = call i32 @llvm.amdgcn.mbcnt.hi(i32 %high, i32 %part)
  %members64 = call i64 @llvm.ctpop.i64(i64 %mask)
  %members = trunc i64 %members64 to i32
  %lanes = shl i32 %members, 8
  %first = and i32 %low, 1
  %writer = shl i32 %first, 16
  %both = or i32 %lanes, %writer
  %gang = or i32 %both, %rank
  ret i32 %gang
}
define internal void @__proton_regroup() <INLINE> {
  ret void
}
