; Intrinsics that are declared are not declared twice; what LLVM inferred is made true again.
; RUN: proton-opt %s --pass="lower-records-circular,allocate-global,lower-to-amd{sched_barriers=true}"
; CHECK: define amdgpu_kernel void @spin({{.*}}inreg readnone captures(none) %2, ptr addrspace(1) inreg %3) local_unnamed_addr #0
; CHECK-NEXT: %proton.lead = call i1 @__proton_lead()
; CHECK: %13 = call i32 @__proton_record(
; CHECK: declare noundef i32 @llvm.amdgcn.workgroup.id.x()
; CHECK-NOT: "amdgpu-no-workgroup-id-x"
; CHECK: "amdgpu-no-queue-ptr" "amdgpu-no-workitem-id-y"
; CHECK-NOT: declare i32 @llvm.amdgcn.workgroup.id.x()
; CHECK: declare i32 @llvm.amdgcn.workgroup.id.y()
; CHECK: call void @llvm.amdgcn.sched.barrier(i32 0)
; CHECK-NEXT: %clock = call i64 @llvm.amdgcn.s.memtime()
; CHECK-NOT: "// proton.
; RUN: not proton-opt %s --pass=lower-records-circular,allocate-global,lower-to-nvidia --check-prefix=OTHER
; OTHER: kernel 'spin' is for amd; use lower-to-amd

; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: nounwind
define amdgpu_kernel void @spin(ptr addrspace(1) inreg captures(none) %0, i32 inreg %1, ptr addrspace(1) inreg readnone captures(none) %2, ptr addrspace(1) inreg readnone captures(none) %3) local_unnamed_addr #0 !dbg !4 {
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !7
  %6 = icmp sgt i32 %5, %1, !dbg !8
  br i1 %6, label %7, label %8, !dbg !8

7:                                                ; preds = %27, %._crit_edge, %4
  ret void, !dbg !9

8:                                                ; preds = %4
  %9 = sext i32 %5 to i64, !dbg !10
  %10 = getelementptr i32, ptr addrspace(1) %0, i64 %9, !dbg !10
  %11 = load <1 x i32>, ptr addrspace(1) %10, align 4, !dbg !11
  %12 = extractelement <1 x i32> %11, i64 0, !dbg !11
  %13 = tail call i32 asm sideeffect "// proton.record start loop", "=r,~{memory}"() #2, !dbg !12
  %14 = icmp sgt i32 %1, 0, !dbg !17
  br i1 %14, label %.lr.ph, label %._crit_edge, !dbg !17

.lr.ph:                                           ; preds = %8, %.lr.ph
  %15 = phi i32 [ %20, %.lr.ph ], [ %12, %8 ]
  %16 = phi i32 [ %22, %.lr.ph ], [ 0, %8 ]
  %17 = tail call i32 asm sideeffect "// proton.record value i", "=r,r,~{memory}"(i32 %16) #2, !dbg !18
  %18 = tail call i32 asm sideeffect "// proton.record start add%20one", "=r,~{memory}"() #2, !dbg !20
  %19 = mul i32 %15, 3, !dbg !22
  %20 = add i32 %19, %16, !dbg !23
  %21 = tail call i32 asm sideeffect "// proton.record end add%20one", "=r,~{memory}"() #2, !dbg !24
  %22 = add nuw nsw i32 %16, 1, !dbg !17
  %exitcond.not = icmp eq i32 %22, %1, !dbg !17
  br i1 %exitcond.not, label %._crit_edge, label %.lr.ph, !dbg !17

._crit_edge:                                      ; preds = %.lr.ph, %8
  %.lcssa = phi i32 [ %12, %8 ], [ %20, %.lr.ph ], !dbg !11
  %23 = tail call i32 asm sideeffect "// proton.record end loop", "=r,~{memory}"() #2, !dbg !26
  %24 = tail call i32 @llvm.amdgcn.workitem.id.x(), !dbg !28
  %25 = and i32 %24, 255, !dbg !28
  %26 = icmp eq i32 %25, 0, !dbg !28
  br i1 %26, label %27, label %7, !dbg !28

27:                                               ; preds = %._crit_edge
  %28 = insertelement <1 x i32> poison, i32 %.lcssa, i64 0
  store <1 x i32> %28, ptr addrspace(1) %10, align 4, !dbg !28
  br label %7, !dbg !28
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
!1 = !DIFile(filename: "kernels.py", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!4 = distinct !DISubprogram(name: "spin", linkageName: "spin", scope: !1, file: !1, line: 6, type: !5, scopeLine: 6, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 7, column: 24, scope: !4)
!8 = !DILocation(line: 8, column: 13, scope: !4)
!9 = !DILocation(line: 9, column: 8, scope: !4)
!10 = !DILocation(line: 10, column: 24, scope: !4)
!11 = !DILocation(line: 10, column: 16, scope: !4)
!12 = !DILocation(line: 44, column: 52, scope: !13, inlinedAt: !15)
!13 = distinct !DILexicalBlockFile(scope: !4, file: !14, discriminator: 0)
!14 = !DIFile(filename: "carrier_kernels.py", directory: "/src")
!15 = !DILocation(line: 11, column: 10, scope: !16)
!16 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!17 = !DILocation(line: 12, column: 19, scope: !4)
!18 = !DILocation(line: 57, column: 47, scope: !13, inlinedAt: !19)
!19 = !DILocation(line: 13, column: 22, scope: !16)
!20 = !DILocation(line: 44, column: 52, scope: !13, inlinedAt: !21)
!21 = !DILocation(line: 14, column: 14, scope: !16)
!22 = !DILocation(line: 15, column: 16, scope: !4)
!23 = !DILocation(line: 15, column: 20, scope: !4)
!24 = !DILocation(line: 50, column: 52, scope: !13, inlinedAt: !25)
!25 = !DILocation(line: 16, column: 12, scope: !16)
!26 = !DILocation(line: 50, column: 52, scope: !13, inlinedAt: !27)
!27 = !DILocation(line: 17, column: 8, scope: !16)
!28 = !DILocation(line: 18, column: 26, scope: !4)
