; Memory that no argument is known to lead to is counted in hashed bins, beside the rows of the others.
; RUN: proton-opt %s --pass="record-memory{bins=64},lower-records-circular,allocate-global,lower-to-nvidia"
; CHECK: %proton.hashed = call ptr addrspace(1) @__proton_hashed(ptr addrspace(1) %proton.table)
; CHECK: call void @__proton_note_base(ptr addrspace(1) %proton.table, i64 32, i64 %proton.base0, i1 %proton.lead)
; CHECK-NOT: @__proton_note_base
; CHECK: call void @__proton_touch(ptr addrspace(1) %proton.rows
; CHECK: call void @__proton_touch_hashed(ptr addrspace(1) %proton.hashed, ptr addrspace(1) %proton.access1.first, i64 %proton.at1, i32 1, i32 0, i32 4, i64 16, i32 %proton.places, i32 %proton.lower, i1 true)
; CHECK: %rows = mul i32 %ctas, 128
; CHECK: %places = mul i32 %ctas, 32
; RUN: proton-opt %s --pass="record-memory,lower-records-circular,allocate-global{cta_every=2},lower-to-nvidia" --check-prefix=SOME
; SOME: %proton.recorded = call i1 @__proton_recorded()
; SOME: call void @__proton_touch({{.*}}i1 %proton.lead, i1 %proton.recorded)

target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

define ptx_kernel void @through(ptr addrspace(1) %0, i32 %1, ptr addrspace(1) %2) #0 {
  %4 = getelementptr i64, ptr addrspace(1) %0, i32 %1
  %5 = load i64, ptr addrspace(1) %4, align 8
  %6 = inttoptr i64 %5 to ptr addrspace(1)
  store i32 7, ptr addrspace(1) %6, align 4
  ret void
}

attributes #0 = { nounwind "nvvm.reqntid"="128" }
