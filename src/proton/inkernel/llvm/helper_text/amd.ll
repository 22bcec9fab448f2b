;; amd
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
;; amd_put
; Stores two words of a record; the clock is read before, and stays between the barriers.
define internal void @__proton_put(<HANDLE> %base, i32 %offset, i32 %tag, i32 %word, i1 %lead) <INLINE> {
entry:
  <ADDRESS>
  %half = insertelement <2 x i32> poison, i32 %tag, i64 0
  %record = insertelement <2 x i32> %half, i32 %word, i64 1
  br i1 %lead, label %write, label %out
write:
  store <2 x i32> %record, ptr addrspace(<SPACE>) %at, align 8
  br label %out
out:
  ret void
}
define internal void @__proton_put_clock(<HANDLE> %base, i32 %offset, i32 %tag, i1 %lead) <INLINE> {
  <BARRIER>
  %clock = call i64 @llvm.amdgcn.s.memtime()
  %low = trunc i64 %clock to i32
  <PAYLOAD>
  <LATE_BARRIER>
  call void @__proton_put(<HANDLE> %base, i32 %offset, i32 %full_tag, i32 %low, i1 %lead)
  <LATE_BARRIER>
  ret void
}
;; amd_count
; Adds the values of the lanes that are here to a number of 64 bits; LLVM sums them before it goes to memory.
define internal void @__proton_add_lanes(ptr addrspace(1) %at, i32 %value) <INLINE> {
  %wide = zext i32 %value to i64
  %old = atomicrmw add ptr addrspace(1) %at, i64 %wide syncscope("agent") monotonic, align 8
  ret void
}
;; amd_bins
; What the table stands on, as for NVIDIA. The lanes are grouped by turns: each turn serves those that agree with the first one left.
define internal i32 @__proton_together() <INLINE> {
  ret i32 0
}
define internal void @__proton_rejoin(i32 %mask) <INLINE> {
  ret void
}
define internal i32 @__proton_lower() <INLINE> {
  ret i32 0
}
define internal i1 @__proton_same(i32 %number, i1 %claim) <INLINE> {
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %number)
  %is_equal = icmp eq i32 %number, %first
  %holds = and i1 %is_equal, %claim
  %lanes = call i64 @llvm.amdgcn.ballot.i64(i1 %holds)
  %same = icmp eq i64 %lanes, <ALL_LANES>
  ret i1 %same
}
define internal void @__proton_add_warp(ptr addrspace(1) %at, i1 %is_lane0) <INLINE> {
entry:
  br i1 %is_lane0, label %add, label %out
add:
  %old = atomicrmw add ptr addrspace(1) %at, i64 <WARP_SIZE> syncscope("agent") monotonic, align 8
  br label %out
out:
  ret void
}
define internal i32 @__proton_rank(i64 %lanes) <INLINE> {
  %low = trunc i64 %lanes to i32
  %shifted = lshr i64 %lanes, 32
  %high = trunc i64 %shifted to i32
  %part = call i32 @llvm.amdgcn.mbcnt.lo(i32 %low, i32 0)
  %rank = call i32 @llvm.amdgcn.mbcnt.hi(i32 %high, i32 %part)
  ret i32 %rank
}
define internal i32 @__proton_like(i64 %bin, i32 %mask, i32 %lower) <INLINE> {
entry:
  %has_bin = icmp ne i64 %bin, 0
  %all = call i64 @llvm.amdgcn.ballot.i64(i1 %has_bin)
  %before = call i32 @__proton_rank(i64 %all)
  %is_first = icmp eq i32 %before, 0
  %first_bit = select i1 %is_first, i32 2, i32 0
  %low = trunc i64 %bin to i32
  %shifted = lshr i64 %bin, 32
  %high = trunc i64 %shifted to i32
  br label %turn
turn:
  %now_low = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %low)
  %now_high = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %high)
  %low_same = icmp eq i32 %low, %now_low
  %high_same = icmp eq i32 %high, %now_high
  %same = and i1 %low_same, %high_same
  %group = call i64 @llvm.amdgcn.ballot.i64(i1 %same)
  %rank = call i32 @__proton_rank(i64 %group)
  %leads = icmp eq i32 %rank, 0
  %lead_bit = select i1 %leads, i32 1, i32 0
  %members64 = call i64 @llvm.ctpop.i64(i64 %group)
  %members = trunc i64 %members64 to i32
  %count = shl i32 %members, 8
  %half = or i32 %count, %lead_bit
  %whole = or i32 %half, %first_bit
  %like = select i1 %same, i32 %whole, i32 0
  br i1 %same, label %out, label %turn
out:
  ret i32 %like
}
define internal i64 @__proton_claim(ptr addrspace(1) %at, i64 %value) <INLINE> {
  %pair = cmpxchg ptr addrspace(1) %at, i64 0, i64 %value syncscope("agent") monotonic monotonic, align 8
  %old = extractvalue { i64, i1 } %pair, 0
  ret i64 %old
}
define internal void @__proton_add(ptr addrspace(1) %at, i32 %number) <INLINE> {
  %value = zext i32 %number to i64
  %old = atomicrmw add ptr addrspace(1) %at, i64 %value syncscope("agent") monotonic, align 8
  ret void
}
