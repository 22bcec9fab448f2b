; Counts how often each block is entered, and each branch is met: one number for each site.
@names = private unnamed_addr addrspace(1) constant [3 x i8] c"#1\00"

define void @on_block(i32 %site, ptr addrspace(1) %counts) {
  %wide = zext i32 %site to i64
  %at = getelementptr i32, ptr addrspace(1) %counts, i64 %wide
  %old = atomicrmw add ptr addrspace(1) %at, i32 1 monotonic, align 4
  ret void
}

define void @on_branch(i32 %condition, i32 %site, ptr addrspace(1) %counts) {
  call void @on_block(i32 %site, ptr addrspace(1) %counts)
  ret void
}
