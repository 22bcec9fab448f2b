;; counters
; A warp's counters stand behind all headers: for each site what its lanes did, and the first address.
define internal ptr addrspace(1) @__proton_counters(ptr addrspace(1) %scratch) <INLINE> {
  <CTA_COUNT>
  %ctas64 = zext i32 %ctas to i64
  %streams = mul i64 %ctas64, <STREAMS>
  %before = mul i64 %streams, <SLOT>
  %slot = call i64 @__proton_slot()
  %own = mul i64 %slot, <COUNTERS>
  %offset = add i64 %before, %own
  %counters = getelementptr i8, ptr addrspace(1) %scratch, i64 %offset
  ret ptr addrspace(1) %counters
}
define internal void @__proton_count_out(ptr addrspace(1) %counters, i64 %offset, i32 %count, i1 %recorded) <INLINE> {
entry:
  br i1 %recorded, label %add, label %out
add:
  %at = getelementptr i8, ptr addrspace(1) %counters, i64 %offset
  call void @__proton_add_lanes(ptr addrspace(1) %at, i32 %count)
  br label %out
out:
  ret void
}
;; bins
; The launch's table of bins, behind all counters: what was dropped and the arguments' addresses, hashed bins, then rows. A row is a stretch of memory behind an argument's address, a column of it a counter of one kind of access to one argument, so an access is counted without a look at the table. Rows stand there in several copies, so that few warps add to one place; every CTA of the grid adds to their number, and it is the largest power of two that fits.
define internal ptr addrspace(1) @__proton_table(ptr addrspace(1) %scratch) <INLINE> {
  %grid = call i32 @__proton_grid()
  %ctas = zext i32 %grid to i64
  %before = mul i64 %ctas, <SLOTS>
  %table = getelementptr i8, ptr addrspace(1) %scratch, i64 %before
  ret ptr addrspace(1) %table
}
define internal i32 @__proton_all_row_bits() <INLINE> {
  %grid = call i32 @__proton_grid()
  %few = icmp ult i32 %grid, <ROW_CTAS>
  %ctas = select i1 %few, i32 %grid, i32 <ROW_CTAS>
  %rows = mul i32 %ctas, <ROWS>
  %free = call i32 @llvm.ctlz.i32(i32 %rows, i1 true)
  %bits = sub i32 31, %free
  ret i32 %bits
}
define internal i32 @__proton_copy_bits(i32 %all_bits) <INLINE> {
  %more = sub i32 %all_bits, <OWN_ROW_BITS>
  %is_more = icmp sgt i32 %more, 0
  %some = select i1 %is_more, i32 %more, i32 0
  %is_few = icmp slt i32 %some, <COPY_BITS>
  %bits = select i1 %is_few, i32 %some, i32 <COPY_BITS>
  ret i32 %bits
}
define internal i32 @__proton_near(i32 %all_bits, i32 %copy_bits) <INLINE> {
  %bits = sub i32 %all_bits, %copy_bits
  %less = sub i32 %bits, 1
  %near = shl i32 1, %less
  ret i32 %near
}
define internal ptr addrspace(1) @__proton_rows(ptr addrspace(1) %table, i32 %copy_bits, i32 %near) <INLINE> {
  %grid = call i32 @__proton_grid()
  %ctas = zext i32 %grid to i64
  %hashed = mul i64 %ctas, <HASHED_BYTES>
  %before = add i64 %hashed, <TABLE_HEADER>
  %cta = call i32 @__proton_cta()
  %warp = call i32 @__proton_warp()
  %both = add i32 %cta, %warp
  %above = shl i32 -1, %copy_bits
  %mask = xor i32 %above, -1
  %copy = and i32 %both, %mask
  %doubled = shl i32 %near, 1
  %row = mul i32 %copy, %doubled
  %row64 = zext i32 %row to i64
  %earlier = mul i64 %row64, <ROW_BYTES>
  %offset = add i64 %before, %earlier
  %rows = getelementptr i8, ptr addrspace(1) %table, i64 %offset
  ret ptr addrspace(1) %rows
}
define internal void @__proton_note_base(ptr addrspace(1) %table, i64 %offset, i64 %address, i1 %lead) <INLINE> {
entry:
  br i1 %lead, label %write, label %out
write:
  %at = getelementptr i8, ptr addrspace(1) %table, i64 %offset
  store i64 %address, ptr addrspace(1) %at, align 8
  br label %out
out:
  ret void
}
; The common case first: the whole warp takes part, not for the first time, and in one row of the first level. Rows of later levels stand for more memory each, and the last row of all for what is outside of them.
define internal void @__proton_touch(ptr addrspace(1) %rows, ptr addrspace(1) %first, i64 %address, i64 %base, i32 %taken, i32 %before, i64 %column, i32 %near, i32 %lower, i1 %is_lane0, i1 %recorded) <INLINE> {
entry:
  br i1 %recorded, label %look, label %out
look:
  %offset = sub i64 %address, %base
  %wide = lshr i64 %offset, <BIN_SHIFT>
  %number = trunc i64 %wide to i32
  %is_near = icmp ult i32 %number, %near
  %is_seen = icmp ne i32 %before, 0
  %active = icmp ne i32 %taken, 0
  %is_both = and i1 %is_near, %is_seen
  %is_simple = and i1 %is_both, %active
  %is_same = call i1 @__proton_same(i32 %number, i1 %is_simple)
  br i1 %is_same, label %at_once, label %one_by_one, !prof !900003
at_once:
  %number64 = zext i32 %number to i64
  %skipped = mul i64 %number64, <ROW_BYTES>
  %its_row = getelementptr i8, ptr addrspace(1) %rows, i64 %skipped
  %its_sum = getelementptr i8, ptr addrspace(1) %its_row, i64 %column
  call void @__proton_add_warp(ptr addrspace(1) %its_sum, i1 %is_lane0)
  br label %out
one_by_one:
  %mask = call i32 @__proton_together()
  %doubled = shl i32 %near, 1
  br label %level
level:
  %step = phi i32 [ 0, %one_by_one ], [ %next, %farther ]
  %coarser = mul i32 %step, <LEVEL_BITS>
  %shift = add i32 %coarser, <BIN_SHIFT>
  %shift64 = zext i32 %shift to i64
  %index = lshr i64 %offset, %shift64
  %limit = lshr i32 %near, %step
  %limit64 = zext i32 %limit to i64
  %fits = icmp ult i64 %index, %limit64
  br i1 %fits, label %placed, label %farther
farther:
  %next = add i32 %step, 1
  %is_left = icmp ult i32 %next, <LEVELS>
  br i1 %is_left, label %level, label %outside, !llvm.loop !900001
outside:
  %last = sub i32 %doubled, 1
  br label %group
placed:
  %index32 = trunc i64 %index to i32
  %rest = lshr i32 %doubled, %step
  %start = sub i32 %doubled, %rest
  %place = add i32 %start, %index32
  br label %group
group:
  %row = phi i32 [ %place, %placed ], [ %last, %outside ]
  %row64 = zext i32 %row to i64
  %bin = add i64 %row64, 1
  %mine = select i1 %active, i64 %bin, i64 0
  %like = call i32 @__proton_like(i64 %mine, i32 %mask, i32 %lower)
  %leads = trunc i32 %like to i1
  %lead = and i1 %leads, %active
  br i1 %lead, label %add, label %join
add:
  call void @__proton_note_first(ptr addrspace(1) %first, i64 %address, i32 %before, i32 %like)
  %passed = mul i64 %row64, <ROW_BYTES>
  %row_at = getelementptr i8, ptr addrspace(1) %rows, i64 %passed
  %sum = getelementptr i8, ptr addrspace(1) %row_at, i64 %column
  %members = lshr i32 %like, 8
  call void @__proton_add(ptr addrspace(1) %sum, i32 %members)
  br label %join
join:
  call void @__proton_rejoin(i32 %mask)
  br label %out
out:
  ret void
}
define internal void @__proton_note_first(ptr addrspace(1) %first, i64 %address, i32 %before, i32 %like) <INLINE> {
entry:
  %rest = lshr i32 %like, 1
  %is_first = trunc i32 %rest to i1
  %unseen = icmp eq i32 %before, 0
  %new = and i1 %is_first, %unseen
  br i1 %new, label %note, label %out
note:
  %was = call i64 @__proton_claim(ptr addrspace(1) %first, i64 %address)
  br label %out
out:
  ret void
}
!900001 = distinct !{!900001, !900002}
!900002 = !{!"llvm.loop.unroll.disable"}
!900003 = !{!"branch_weights", i32 1000, i32 1}
;; hashed_bins
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
