/// The kernel that reads metric values from device memory, as PTX that every driver since CUDA 12
/// compiles, and the ring in host memory that it writes to. A run takes one cell for its number and
/// one for each element; a cell is good once its stamp says the lap, so that the host reads without
/// asking the driver. A run that finds no room only counts itself. One that finds more read than
/// was written, because others wrote since it looked, does not: it looks again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/own_kernels.h"

namespace proton::cupti {

inline constexpr unsigned kReaderThreads = 32;

enum class ElementKind : uint32_t {
  kUint8 = 0,  // also bool
  kInt8 = 1,
  kInt16 = 2,
  kUint16 = 3,
  kInt32 = 4,
  kUint32 = 5,
  kInt64 = 6,
  kUint64 = 7,
  kFloat16 = 8,  // this one and the next ones are read as double, those before as int64
  kBfloat16 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
};
inline constexpr uint32_t kElementKinds = 12;
inline constexpr bool is_float(ElementKind kind) { return kind >= ElementKind::kFloat16; }

/// The kernel's parameter.
struct ReaderParams {
  uint64_t source;  // address of the first element
  int64_t stride_bytes;
  uint64_t id;
  uint64_t ring;  // device address of a RingHeader
  uint32_t count;
  uint32_t kind;
  uint32_t capacity_bits;
  uint32_t is_captured;  // then it reads only while the ring is open
};
static_assert(sizeof(ReaderParams) == 48);

/// The start of the ring; cells follow.
struct alignas(64) RingHeader {
  uint64_t consumed;  // cells that the host has read
  uint64_t is_open;   // whether a session is active
  uint64_t dropped;   // runs that found no room
};

struct RingCell {
  uint64_t stamp;  // lap from 1 on, above 32 bits; below: the number of elements, in the first cell
  uint64_t value;  // the run's id in the first cell, then int64 or double
};
static_assert(sizeof(RingHeader) == 64 && sizeof(RingCell) == 16);

inline constexpr const char* kReaderPtx = R"(
.version 6.0
.target sm_50
.address_size 64

.global .align 8 .u64 head;

.visible .entry proton_read_metric_value(.param .align 8 .b8 given[48])
{
  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<2>;
  .reg .f64 %d<2>;
  .reg .b64 %v<24>;
  .shared .align 8 .u64 ticket;

  ld.param.u64 %v0, [given];
  ld.param.u64 %v1, [given+8];
  ld.param.u64 %v2, [given+16];
  ld.param.u64 %v3, [given+24];
  ld.param.u32 %r0, [given+32];
  ld.param.u32 %r1, [given+36];
  ld.param.u32 %r2, [given+40];
  ld.param.u32 %r3, [given+44];
  cvta.to.global.u64 %v0, %v0;
  cvta.to.global.u64 %v3, %v3;
  mov.u32 %r4, %tid.x;
  cvt.u64.u32 %v4, %r0;
  add.u64 %v4, %v4, 1;
  mov.u64 %v5, 1;
  shl.b64 %v5, %v5, %r2;
  sub.u64 %v6, %v5, 1;
  setp.ne.u32 %p0, %r4, 0;
  @%p0 bra MEET;

  mov.u64 %v7, 0xffffffffffffffff;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra RESERVE;
  ld.volatile.global.u64 %v8, [%v3+8];
  setp.eq.u64 %p1, %v8, 0;
  @%p1 bra SHARE;
RESERVE:
  ld.volatile.global.u64 %v9, [head];
  ld.volatile.global.u64 %v10, [%v3];
  add.u64 %v11, %v9, %v4;
  sub.s64 %v12, %v11, %v10;
  setp.gt.s64 %p1, %v12, %v5;
  @%p1 bra FULL;
  atom.global.cas.b64 %v13, [head], %v9, %v11;
  setp.ne.u64 %p1, %v13, %v9;
  @%p1 bra RESERVE;
  mov.u64 %v7, %v9;
  bra.uni SHARE;
FULL:
  atom.global.add.u64 %v13, [%v3+16], 1;
SHARE:
  st.shared.u64 [ticket], %v7;
MEET:
  bar.sync 0;
  ld.shared.u64 %v7, [ticket];
  setp.eq.u64 %p1, %v7, 0xffffffffffffffff;
  @%p1 ret;
  add.u64 %v14, %v3, 64;
  @%p0 bra VALUES;
  and.b64 %v15, %v7, %v6;
  shl.b64 %v15, %v15, 4;
  add.u64 %v15, %v14, %v15;
  shr.u64 %v16, %v7, %r2;
  add.u64 %v16, %v16, 1;
  shl.b64 %v16, %v16, 32;
  cvt.u64.u32 %v17, %r0;
  or.b64 %v16, %v16, %v17;
  st.volatile.global.u64 [%v15+8], %v2;
  membar.sys;
  st.volatile.global.u64 [%v15], %v16;
VALUES:
  mov.u32 %r5, %r4;
NEXT:
  setp.ge.u32 %p2, %r5, %r0;
  @%p2 ret;
  cvt.u64.u32 %v18, %r5;
  mul.lo.s64 %v19, %v18, %v1;
  add.s64 %v19, %v0, %v19;
  setp.ge.u32 %p3, %r1, 8;
  @%p3 bra FLOATS;
  setp.ge.u32 %p3, %r1, 4;
  @%p3 bra WIDE;
  setp.eq.u32 %p3, %r1, 1;
  @%p3 bra INT8;
  setp.eq.u32 %p3, %r1, 2;
  @%p3 bra INT16;
  setp.eq.u32 %p3, %r1, 3;
  @%p3 bra UINT16;
  ld.global.u8 %v20, [%v19];
  bra.uni STORE;
INT8:
  ld.global.s8 %v20, [%v19];
  bra.uni STORE;
INT16:
  ld.global.s16 %v20, [%v19];
  bra.uni STORE;
UINT16:
  ld.global.u16 %v20, [%v19];
  bra.uni STORE;
WIDE:
  setp.eq.u32 %p3, %r1, 4;
  @%p3 bra INT32;
  setp.eq.u32 %p3, %r1, 5;
  @%p3 bra UINT32;
  ld.global.u64 %v20, [%v19];
  bra.uni STORE;
INT32:
  ld.global.s32 %v20, [%v19];
  bra.uni STORE;
UINT32:
  ld.global.u32 %v20, [%v19];
  bra.uni STORE;
FLOATS:
  setp.eq.u32 %p3, %r1, 11;
  @%p3 bra FLOAT64;
  setp.eq.u32 %p3, %r1, 10;
  @%p3 bra FLOAT32;
  setp.eq.u32 %p3, %r1, 9;
  @%p3 bra BFLOAT16;
  ld.global.b16 %h0, [%v19];
  cvt.f32.f16 %f0, %h0;
  bra.uni WIDEN;
BFLOAT16:
  ld.global.u16 %r6, [%v19];
  shl.b32 %r6, %r6, 16;
  mov.b32 %f0, %r6;
  bra.uni WIDEN;
FLOAT32:
  ld.global.f32 %f0, [%v19];
WIDEN:
  cvt.f64.f32 %d0, %f0;
  mov.b64 %v20, %d0;
  bra.uni STORE;
FLOAT64:
  ld.global.u64 %v20, [%v19];
STORE:
  add.u64 %v21, %v7, %v18;
  add.u64 %v21, %v21, 1;
  shr.u64 %v22, %v21, %r2;
  add.u64 %v22, %v22, 1;
  shl.b64 %v22, %v22, 32;
  and.b64 %v21, %v21, %v6;
  shl.b64 %v21, %v21, 4;
  add.u64 %v21, %v14, %v21;
  st.volatile.global.u64 [%v21+8], %v20;
  membar.sys;
  st.volatile.global.u64 [%v21], %v22;
  add.u32 %r5, %r5, 32;
  bra NEXT;
}
)";

}  // namespace proton::cupti
