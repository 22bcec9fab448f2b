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
