; Floats are recorded as their bits, as cheap as integers; one name with both is recorded as doubles.
; RUN: proton-opt %s --pass=lower-records-circular,allocate-global,lower-to-nvidia
; CHECK: %proton.value1.next = call i32 @__proton_record({{.*}}i32 -1073741824
; CHECK-NEXT: %11 = call i32 @__proton_value({{.*}}i32 %proton.value1.next, i32 -1073741824, i32 %10
; CHECK: %17 = call i32 @__proton_value({{.*}}i32 -1073676288, i32 %16
; CHECK: %proton.value3.low = trunc i64 %19 to i32
; CHECK-NEXT: %proton.value3.upper = lshr i64 %19, 32
; CHECK-NEXT: %proton.value3.high = trunc i64 %proton.value3.upper to i32
; CHECK: %20 = call i32 @__proton_value({{.*}}i32 %proton.value3.high, i32 %proton.value3.low
; CHECK: %proton.value4.short = bitcast i32 %21 to float
; CHECK-NEXT: %proton.value4.double = fpext float %proton.value4.short to double
; CHECK-NEXT: %proton.value4.bits = bitcast double %proton.value4.double to i64
; CHECK: %22 = call i32 @__proton_value({{.*}}i32 %proton.value4.high, i32 %proton.value4.low
; CHECK: %proton.value5.double = sitofp i32 %3 to double
; CHECK-NEXT: %proton.value5.bits = bitcast double %proton.value5.double to i64
; CHECK: %23 = call i32 @__proton_value({{.*}}i32 %proton.value5.high, i32 %proton.value5.low
; CHECK-NOT: "// proton.

; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @floats(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) readnone captures(none) %4, ptr addrspace(1) readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %8 = zext nneg i32 %7 to i64, !dbg !8
  %9 = getelementptr float, ptr addrspace(1) %0, i64 %8, !dbg !8
  %10 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %9) #2, !dbg !9
  %11 = tail call i32 asm sideeffect "// proton.record value single type=f32", "=r,r,~{memory}"(i32 %10) #2, !dbg !10
  %12 = getelementptr bfloat, ptr addrspace(1) %1, i64 %8, !dbg !11
  %13 = tail call i16 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b16 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %12) #2, !dbg !12
  %14 = bitcast i16 %13 to bfloat, !dbg !12
  %15 = fpext bfloat %14 to float, !dbg !13
  %16 = bitcast float %15 to i32, !dbg !13
  %17 = tail call i32 asm sideeffect "// proton.record value half type=f32", "=r,r,~{memory}"(i32 %16) #2, !dbg !13
  %18 = getelementptr double, ptr addrspace(1) %2, i64 %8, !dbg !14
  %19 = tail call i64 asm sideeffect "mov.u64 $0, 0x0;\0A\09ld.global.b64 { $0 }, [ $1 + 0 ];", "=l,l"(ptr addrspace(1) %18) #2, !dbg !15
  %20 = tail call i32 asm sideeffect "// proton.record value double type=f64", "=r,l,~{memory}"(i64 %19) #2, !dbg !16
  %21 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %9) #2, !dbg !17
  %22 = tail call i32 asm sideeffect "// proton.record value mixed type=f32", "=r,r,~{memory}"(i32 %21) #2, !dbg !18
  %23 = tail call i32 asm sideeffect "// proton.record value mixed", "=r,r,~{memory}"(i32 %3) #2, !dbg !19
  %24 = sitofp i32 %3 to float, !dbg !20
  %25 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !20
  %26 = and i32 %25, 127, !dbg !20
  %27 = icmp eq i32 %26, 0, !dbg !20
  %28 = bitcast float %24 to i32, !dbg !20
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %28, ptr addrspace(1) %0, i1 %27) #2, !dbg !20
  ret void, !dbg !21
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "mine.py", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "floats", linkageName: "floats", scope: !1, file: !1, line: 11, type: !5, scopeLine: 11, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 12, column: 22, scope: !4)
!8 = !DILocation(line: 13, column: 35, scope: !4)
!9 = !DILocation(line: 13, column: 31, scope: !4)
!10 = !DILocation(line: 13, column: 23, scope: !4)
!11 = !DILocation(line: 14, column: 33, scope: !4)
!12 = !DILocation(line: 14, column: 29, scope: !4)
!13 = !DILocation(line: 14, column: 21, scope: !4)
!14 = !DILocation(line: 15, column: 35, scope: !4)
!15 = !DILocation(line: 15, column: 31, scope: !4)
!16 = !DILocation(line: 15, column: 23, scope: !4)
!17 = !DILocation(line: 16, column: 30, scope: !4)
!18 = !DILocation(line: 16, column: 22, scope: !4)
!19 = !DILocation(line: 17, column: 22, scope: !4)
!20 = !DILocation(line: 18, column: 16, scope: !4)
!21 = !DILocation(line: 18, column: 4, scope: !4)
