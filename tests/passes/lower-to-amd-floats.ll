; Floats are recorded as their bits, as cheap as integers; one name with both is recorded as doubles.
; RUN: proton-opt %s --pass=lower-records-circular,allocate-global,lower-to-amd
; CHECK: %13 = call i32 @__proton_value({{.*}}i32 %proton.value1.next, i32 -1073741824, i32 %12
; CHECK: %19 = call i32 @__proton_value({{.*}}i32 -1073676288, i32 %18
; CHECK: %proton.value3.low = trunc i64 %22 to i32
; CHECK: %23 = call i32 @__proton_value({{.*}}i32 %proton.value3.high, i32 %proton.value3.low
; CHECK: %proton.value4.double = fpext float %proton.value4.short to double
; CHECK: %proton.value5.double = sitofp i32 %3 to double
; CHECK-NOT: "// proton.

; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: nounwind
define amdgpu_kernel void @floats(ptr addrspace(1) inreg captures(none) %0, ptr addrspace(1) inreg readonly captures(none) %1, ptr addrspace(1) inreg readonly captures(none) %2, i32 inreg %3, ptr addrspace(1) inreg readnone captures(none) %4, ptr addrspace(1) inreg readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !7
  %8 = sext i32 %7 to i64, !dbg !8
  %9 = getelementptr float, ptr addrspace(1) %0, i64 %8, !dbg !8
  %10 = load <1 x i32>, ptr addrspace(1) %9, align 4, !dbg !9
  %11 = tail call i32 asm "// proton.guard", "=r"() #2, !dbg !10
  %.not = icmp eq i32 %11, 0, !dbg !10
  br i1 %.not, label %.critedge4, label %.critedge, !dbg !10

.critedge:                                        ; preds = %6
  %12 = extractelement <1 x i32> %10, i64 0, !dbg !10
  %13 = tail call i32 asm sideeffect "// proton.record value single type=f32", "=r,v,~{memory}"(i32 %12) #2, !dbg !10
  %14 = getelementptr bfloat, ptr addrspace(1) %1, i64 %8, !dbg !11
  %15 = load <1 x i16>, ptr addrspace(1) %14, align 2, !dbg !12
  %16 = extractelement <1 x i16> %15, i64 0, !dbg !13
  %17 = zext i16 %16 to i32, !dbg !13
  %18 = shl nuw i32 %17, 16, !dbg !13
  %19 = tail call i32 asm sideeffect "// proton.record value half type=f32", "=r,v,~{memory}"(i32 %18) #2, !dbg !13
  %20 = getelementptr double, ptr addrspace(1) %2, i64 %8, !dbg !14
  %21 = load <1 x i64>, ptr addrspace(1) %20, align 8, !dbg !15
  %22 = extractelement <1 x i64> %21, i64 0, !dbg !16
  %23 = tail call i32 asm sideeffect "// proton.record value double type=f64", "=r,v,~{memory}"(i64 %22) #2, !dbg !16
  %24 = load <1 x i32>, ptr addrspace(1) %9, align 4, !dbg !17
  %25 = extractelement <1 x i32> %24, i64 0, !dbg !18
  %26 = tail call i32 asm sideeffect "// proton.record value mixed type=f32", "=r,v,~{memory}"(i32 %25) #2, !dbg !18
  %27 = tail call i32 asm sideeffect "// proton.record value mixed", "=r,v,~{memory}"(i32 %3) #2, !dbg !19
  br label %.critedge4, !dbg !19

.critedge4:                                       ; preds = %6, %.critedge
  %28 = tail call i32 @llvm.amdgcn.workitem.id.x(), !dbg !20
  %29 = and i32 %28, 255, !dbg !20
  %30 = icmp eq i32 %29, 0, !dbg !20
  br i1 %30, label %31, label %34, !dbg !20

31:                                               ; preds = %.critedge4
  %32 = sitofp i32 %3 to float
  %33 = insertelement <1 x float> poison, float %32, i64 0
  store <1 x float> %33, ptr addrspace(1) %0, align 4, !dbg !20
  br label %34, !dbg !20

34:                                               ; preds = %31, %.critedge4
  ret void, !dbg !21
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x() #1

attributes #0 = { nounwind "amdgpu-agpr-alloc"="0" "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="0, 0" "denormal-fp-math-f32"="ieee" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "mine.py", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 1, !"amdhsa_code_object_version", i32 500}
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
