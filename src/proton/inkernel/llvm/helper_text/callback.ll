; The buffer of the user's callbacks, one for the launch behind everything of ours.
define internal ptr addrspace(1) @__proton_callback_buffer(ptr addrspace(1) %scratch) <INLINE> {
  %grid = call i32 @__proton_grid()
  %ctas = zext i32 %grid to i64
  %before = mul i64 %ctas, <BEFORE_CALLBACK>
  %buffer = getelementptr i8, ptr addrspace(1) %scratch, i64 %before
  ret ptr addrspace(1) %buffer
}
