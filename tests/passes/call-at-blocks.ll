; Calls at block entries stand behind phis; calls at branches get the condition.
; RUN: proton-opt %s --pass="call-at{file=tests/data/callbacks/visits.ll function=on_block at=block inline=false buffer_bytes=64}"
; CHECK: @names = private unnamed_addr addrspace(1) constant [3 x i8] c"#1\00"
; CHECK: @spin({{.*}}!dbg !4 {
; CHECK: call void @on_block(i32 0, ptr addrspace(1) %proton.callback_buffer), !dbg !7
; CHECK: .lr.ph:
; CHECK-NEXT: phi
; CHECK-NEXT: phi
; CHECK-NEXT: call void @on_block(i32 3, ptr addrspace(1) %proton.callback_buffer)
; CHECK: define internal void @on_block(i32 %site, ptr addrspace(1) %counts) noinline {
; RUN: proton-opt %s --pass="call-at{file=tests/data/callbacks/visits.ll function=on_branch at=branch buffer_bytes=64}" --check-prefix=BRANCH
; BRANCH: %proton.branch0 = zext i1 %6 to i32
; BRANCH-NEXT: call void @on_branch(i32 %proton.branch0, i32 0, ptr addrspace(1) %proton.callback_buffer), !dbg !8
; BRANCH-NEXT: br i1 %6, label %common.ret

; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @spin(ptr addrspace(1) %0, i32 %1, ptr addrspace(1) readnone captures(none) %2, ptr addrspace(1) readnone captures(none) %3) local_unnamed_addr #0 !dbg !4 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %6 = icmp sgt i32 %5, %1, !dbg !8
  br i1 %6, label %common.ret, label %7, !dbg !8

common.ret:                                       ; preds = %4, %._crit_edge
  ret void, !dbg !9

7:                                                ; preds = %4
  %8 = zext nneg i32 %5 to i64, !dbg !10
  %9 = getelementptr i32, ptr addrspace(1) %0, i64 %8, !dbg !10
  %10 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %9) #2, !dbg !11
  %11 = add i32 0, 0, !dbg !12
  %.not = icmp eq i32 %1, 0, !dbg !17
  br i1 %.not, label %._crit_edge, label %.lr.ph, !dbg !17

.lr.ph:                                           ; preds = %7, %.lr.ph
  %12 = phi i32 [ %17, %.lr.ph ], [ %10, %7 ]
  %13 = phi i32 [ %19, %.lr.ph ], [ 0, %7 ]
  %14 = add i32 0, 0, !dbg !18
  %15 = add i32 0, 0, !dbg !20
  %16 = mul i32 %12, 3, !dbg !22
  %17 = add i32 %16, %13, !dbg !23
  %18 = add i32 0, 0, !dbg !24
  %19 = add nuw nsw i32 %13, 1, !dbg !17
  %exitcond.not = icmp eq i32 %19, %1, !dbg !17
  br i1 %exitcond.not, label %._crit_edge, label %.lr.ph, !dbg !17

._crit_edge:                                      ; preds = %.lr.ph, %7
  %.lcssa = phi i32 [ %10, %7 ], [ %17, %.lr.ph ], !dbg !11
  %20 = add i32 0, 0, !dbg !26
  %21 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !28
  %22 = and i32 %21, 127, !dbg !28
  %23 = icmp eq i32 %22, 0, !dbg !28
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %.lcssa, ptr addrspace(1) %9, i1 %23) #2, !dbg !28
  br label %common.ret, !dbg !29
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
!1 = !DIFile(filename: "kernels.py", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "spin", linkageName: "spin", scope: !1, file: !1, line: 6, type: !5, scopeLine: 6, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 7, column: 24, scope: !4)
!8 = !DILocation(line: 8, column: 13, scope: !4)
!9 = !DILocation(line: 0, scope: !4)
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
!29 = !DILocation(line: 18, column: 4, scope: !4)
