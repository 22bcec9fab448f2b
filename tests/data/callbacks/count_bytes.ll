; Adds up the bytes of all accesses in the launch's buffer: reads in its first number, writes in its second.
define dso_local void @count_bytes(i64 noundef %address, i32 noundef %bytes, i32 noundef %kind, i32 noundef %site, ptr addrspace(1) nocapture noundef %sums) local_unnamed_addr #0 {
  %is_store = icmp eq i32 %kind, 1
  %offset = select i1 %is_store, i64 8, i64 0
  %sum = getelementptr inbounds i8, ptr addrspace(1) %sums, i64 %offset
  %wide = zext i32 %bytes to i64
  %old = atomicrmw add ptr addrspace(1) %sum, i64 %wide monotonic, align 8, !note !0
  ret void
}

attributes #0 = { mustprogress noinline nounwind optnone "target-cpu"="sm_52" }

!llvm.ident = !{!1}
!0 = !{!"counted"}
!1 = !{!"some clang"}
