; Copies records out of shared memory. The lanes that are here together copy, if the first lane, which wrote them, is among them.
define internal void @__proton_copy(i32 %from, ptr addrspace(1) %to, i32 %size) <INLINE> {
entry:
  %gang = call i32 @__proton_gang()
  %first_lane = lshr i32 %gang, 16
  %has_writer = icmp ne i32 %first_lane, 0
  br i1 %has_writer, label %start, label %out
start:
  %rank = and i32 %gang, 255
  %members = lshr i32 %gang, 8
  %lanes = and i32 %members, 255
  %begin = shl i32 %rank, 3
  %step = shl i32 %lanes, 3
  br label %head
head:
  %at = phi i32 [ %begin, %start ], [ %after, %body ]
  %more = icmp ult i32 %at, %size
  br i1 %more, label %body, label %out
body:
  %address = add i32 %from, %at
  %source = inttoptr i32 %address to ptr addrspace(3)
  %record = load <2 x i32>, ptr addrspace(3) %source, align 8
  %at64 = zext i32 %at to i64
  %target = getelementptr i8, ptr addrspace(1) %to, i64 %at64
  store <2 x i32> %record, ptr addrspace(1) %target, align 8
  %after = add i32 %at, %step
  br label %head
out:
  call void @__proton_regroup()
  ret void
}
