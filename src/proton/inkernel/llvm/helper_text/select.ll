; Who records. The bit of a recorded warp is set in <WARPS>; its stream is the number of bits below it.
define internal i1 @__proton_recorded() <INLINE> {
  %warp = call i32 @__proton_warp()
  %warp64 = zext i32 %warp to i64
  %bit = lshr i64 <WARPS>, %warp64
  %set = trunc i64 %bit to i1
  %cta = call i32 @__proton_cta()
  <CTA_TAKEN>
  %both = and i1 %set, %taken
  ret i1 %both
}
define internal i64 @__proton_stream() <INLINE> {
  %warp = call i32 @__proton_warp()
  %warp64 = zext i32 %warp to i64
  %bit = shl i64 1, %warp64
  %below = add i64 %bit, -1
  %earlier = and i64 %below, <WARPS>
  %stream64 = call i64 @llvm.ctpop.i64(i64 %earlier)
  ret i64 %stream64
}
define internal i64 @__proton_slot() <INLINE> {
  %stream = call i64 @__proton_stream()
  %cta = call i32 @__proton_cta()
  <CTA_SLOT>
  %slot64 = zext i32 %slot to i64
  %first = mul i64 %slot64, <STREAMS>
  %index = add i64 %first, %stream
  ret i64 %index
}
