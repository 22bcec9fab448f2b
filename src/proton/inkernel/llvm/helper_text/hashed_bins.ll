; Bins of memory that no argument is known to lead to, hashed by address. The lanes of a bin add together; a key never changes once it is there, so it may be read from a cache that is behind.
define internal ptr addrspace(1) @__proton_hashed(ptr addrspace(1) %table) <INLINE> {
  %hashed = getelementptr i8, ptr addrspace(1) %table, i64 <TABLE_HEADER>
  ret ptr addrspace(1) %hashed
}
define internal i32 @__proton_places() <INLINE> {
  %grid = call i32 @__proton_grid()
  %few = icmp ult i32 %grid, <HASHED_CTAS>
  %ctas = select i1 %few, i32 %grid, i32 <HASHED_CTAS>
  %places = mul i32 %ctas, <HASHED>
  %free = call i32 @llvm.ctlz.i32(i32 %places, i1 true)
  ret i32 %free
}
define internal void @__proton_touch_hashed(ptr addrspace(1) %hashed, ptr addrspace(1) %first, i64 %address, i32 %taken, i32 %before, i32 %bytes, i64 %field, i32 %places, i32 %lower, i1 %recorded) <INLINE> {
entry:
  br i1 %recorded, label %group, label %out
group:
  %mask = call i32 @__proton_together()
  %active = icmp ne i32 %taken, 0
  %key = lshr i64 %address, <BIN_SHIFT>
  %mine = select i1 %active, i64 %key, i64 0
  %like = call i32 @__proton_like(i64 %mine, i32 %mask, i32 %lower)
  %leads = trunc i32 %like to i1
  %lead = and i1 %leads, %active
  br i1 %lead, label %find, label %join
find:
  call void @__proton_note_first(ptr addrspace(1) %first, i64 %address, i32 %before, i32 %like)
  %low = trunc i64 %key to i32
  %mixed = mul i32 %low, <HASH>
  %shift = add i32 %places, 1
  %home = lshr i32 %mixed, %shift
  br label %probe
probe:
  %at = phi i32 [ %home, %find ], [ %next, %more ]
  %tries = phi i32 [ 0, %find ], [ %tried, %more ]
  %number = zext i32 %at to i64
  %offset = mul i64 %number, <BIN>
  %entry_at = getelementptr i8, ptr addrspace(1) %hashed, i64 %offset
  %seen = load i64, ptr addrspace(1) %entry_at, align 8
  %hit = icmp eq i64 %seen, %key
  br i1 %hit, label %add, label %check
check:
  %empty = icmp eq i64 %seen, 0
  br i1 %empty, label %claim, label %more
claim:
  %old = call i64 @__proton_claim(ptr addrspace(1) %entry_at, i64 %key)
  %won = icmp eq i64 %old, 0
  %same = icmp eq i64 %old, %key
  %mine_now = or i1 %won, %same
  br i1 %mine_now, label %add, label %more
more:
  %tried = add i32 %tries, 1
  %after = add i32 %at, 1
  %window = lshr i32 2147483647, %places
  %next = and i32 %after, %window
  %left = icmp ult i32 %tried, <PROBES>
  br i1 %left, label %probe, label %add, !llvm.loop !900001
add:
  %sums = phi ptr addrspace(1) [ %entry_at, %probe ], [ %entry_at, %claim ], [ %hashed, %more ]
  %bytes_at = phi i64 [ %field, %probe ], [ %field, %claim ], [ <DROPPED_BYTES>, %more ]
  %count_at = phi i64 [ <BIN_ACCESSES>, %probe ], [ <BIN_ACCESSES>, %claim ], [ <DROPPED_ACCESSES>, %more ]
  %members = lshr i32 %like, 8
  %total = mul i32 %members, %bytes
  %sum = getelementptr i8, ptr addrspace(1) %sums, i64 %bytes_at
  call void @__proton_add(ptr addrspace(1) %sum, i32 %total)
  %count = getelementptr i8, ptr addrspace(1) %sums, i64 %count_at
  call void @__proton_add(ptr addrspace(1) %count, i32 %members)
  br label %join
join:
  call void @__proton_rejoin(i32 %mask)
  br label %out
out:
  ret void
}
