; Adds the values of the lanes that are here to a number of 64 bits; LLVM sums them before it goes to memory.
define internal void @__proton_add_lanes(ptr addrspace(1) %at, i32 %value) <INLINE> {
  %wide = zext i32 %value to i64
  %old = atomicrmw add ptr addrspace(1) %at, i64 %wide syncscope("agent") monotonic, align 8
  ret void
}
