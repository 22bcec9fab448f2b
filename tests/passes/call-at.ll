; A function of the user's is linked and called at every access, by the lanes that take part.
; RUN: proton-opt %s --pass="call-at{file=tests/data/callbacks/count_bytes.ll function=count_bytes buffer_bytes=16}"
; CHECK: define ptx_kernel void @add({{.*}}captures(none) %4, ptr addrspace(1) %5) local_unnamed_addr
; CHECK-NEXT: "// proton.init callback=16"
; CHECK-NEXT: %proton.callback_buffer = getelementptr i8, ptr addrspace(1) %5, i64 0
; CHECK: ld.global.v4.b32
; CHECK-NEXT: %proton.call_on0 = zext i1 %13 to i32
; CHECK-NEXT: %proton.call_at0 = ptrtoint ptr addrspace(1) %16 to i64
; CHECK-NEXT: call void @__proton_call_taken(i32 %proton.call_on0, i64 %proton.call_at0, i32 16, i32 0, i32 0, ptr addrspace(1) %proton.callback_buffer), !dbg !14
; CHECK: st.global.v4.b32
; CHECK: call void @__proton_call_taken(i32 %proton.call_on2, i64 %proton.call_at2, i32 16, i32 1, i32 2, ptr addrspace(1) %proton.callback_buffer), !dbg !18
; CHECK-NEXT: ret void
; CHECK: define internal void @count_bytes({{.*}}%sums) local_unnamed_addr #[[GROUP:\d+]] alwaysinline {
; CHECK: !note ![[NOTE:\d+]]
; CHECK: attributes #[[GROUP]] = { nounwind }
; CHECK: ![[NOTE]] = !{!"counted"}
; CHECK: call void @count_bytes(i64 %address, i32 %bytes, i32 %kind, i32 %site, ptr addrspace(1) %buffer)
; RUN: proton-opt %s --pass="call-at{file=tests/data/callbacks/count_bytes.ll function=count_bytes buffer_bytes=16},count-bytes,lower-records-circular,allocate-global,lower-to-nvidia" --check-prefix=LOWER
; LOWER: %proton.callback_buffer = call ptr addrspace(1) @__proton_callback_buffer(ptr addrspace(1) %5)
; LOWER: call void @__proton_call_taken(
; LOWER: call void @__proton_count_out(
; LOWER-NOT: "// proton.
; LOWER: %before = mul i64 %ctas, 512
; RUN: not proton-opt %s --pass="call-at{file=tests/data/callbacks/count_bytes.ll function=count_bytes}" --check-prefix=SIZE
; SIZE: @count_bytes takes the buffer; say how large it is for each CTA with buffer_bytes
; RUN: not proton-opt %s --pass="call-at{file=tests/data/callbacks/visits.ll function=on_block}" --check-prefix=PLACE
; PLACE: tests/data/callbacks/visits.ll: 'define void @on_block(i32 %site, ptr addrspace(1) %counts)' cannot be called at access; write: define void @on_block(i64, i32, i32, i32), with ptr addrspace(1) behind
; RUN: not proton-opt %s --pass="call-at{file=tests/data/callbacks/visits.ll function=hello at=block}" --check-prefix=NAME
; NAME: does not define @hello, only on_block, on_branch; write: define void @hello(i32)
; RUN: not proton-opt %s --pass="call-at{file=tests/data/callbacks/broken.ll function=broken at=block}" --check-prefix=BROKEN
; BROKEN: tests/data/callbacks/broken.ll: LLVM refuses it: Instruction does not dominate all uses! %value = add i32 %site, 1 %wrong = add i32 %value, 1; the kernel stays as it is
; RUN: not proton-opt %s --pass="call-at{file=nowhere.ll}" --check-prefix=FILE
; FILE: nowhere.ll: no such file or directory; give a file of LLVM IR as text
; RUN: not proton-opt %s --pass="call-at{at=moon file=tests/data/callbacks/broken.ll}" --check-prefix=MOON
; MOON: unknown place to call at 'moon'; choose one of 'access', 'block', 'branch'

; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @add(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) readnone captures(none) %4, ptr addrspace(1) readnone captures(none) %5) local_unnamed_addr #0 !dbg !4 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !7
  %8 = shl i32 %7, 9, !dbg !8
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !9
  %10 = shl nuw nsw i32 %9, 2, !dbg !9
  %11 = and i32 %10, 508, !dbg !9
  %12 = or disjoint i32 %11, %8, !dbg !10
  %13 = icmp slt i32 %12, %3, !dbg !11
  %14 = sext i32 %12 to i64, !dbg !12
  %15 = getelementptr float, ptr addrspace(1) %2, i64 %14, !dbg !12
  %16 = getelementptr float, ptr addrspace(1) %0, i64 %14, !dbg !13
  %17 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %16, i1 %13) #2, !dbg !14
  %18 = extractvalue { i32, i32, i32, i32 } %17, 0, !dbg !14
  %19 = extractvalue { i32, i32, i32, i32 } %17, 1, !dbg !14
  %20 = extractvalue { i32, i32, i32, i32 } %17, 2, !dbg !14
  %21 = extractvalue { i32, i32, i32, i32 } %17, 3, !dbg !14
  %22 = bitcast i32 %18 to float, !dbg !14
  %23 = bitcast i32 %19 to float, !dbg !14
  %24 = bitcast i32 %20 to float, !dbg !14
  %25 = bitcast i32 %21 to float, !dbg !14
  %26 = getelementptr float, ptr addrspace(1) %1, i64 %14, !dbg !15
  %27 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %26, i1 %13) #2, !dbg !16
  %28 = extractvalue { i32, i32, i32, i32 } %27, 0, !dbg !16
  %29 = extractvalue { i32, i32, i32, i32 } %27, 1, !dbg !16
  %30 = extractvalue { i32, i32, i32, i32 } %27, 2, !dbg !16
  %31 = extractvalue { i32, i32, i32, i32 } %27, 3, !dbg !16
  %32 = bitcast i32 %28 to float, !dbg !16
  %33 = bitcast i32 %29 to float, !dbg !16
  %34 = bitcast i32 %30 to float, !dbg !16
  %35 = bitcast i32 %31 to float, !dbg !16
  %36 = fadd float %22, %32, !dbg !17
  %37 = fadd float %23, %33, !dbg !17
  %38 = fadd float %24, %34, !dbg !17
  %39 = fadd float %25, %35, !dbg !17
  %40 = bitcast float %36 to i32, !dbg !18
  %41 = bitcast float %37 to i32, !dbg !18
  %42 = bitcast float %38 to i32, !dbg !18
  %43 = bitcast float %39 to i32, !dbg !18
  tail call void asm sideeffect "@$5 st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l,b"(i32 %40, i32 %41, i32 %42, i32 %43, ptr addrspace(1) %15, i1 %13) #2, !dbg !18
  ret void, !dbg !19
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
!1 = !DIFile(filename: "add.py", directory: "/home/user")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "add", linkageName: "add", scope: !1, file: !1, line: 7, type: !5, scopeLine: 7, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{}
!7 = !DILocation(line: 8, column: 23, scope: !4)
!8 = !DILocation(line: 8, column: 28, scope: !4)
!9 = !DILocation(line: 8, column: 49, scope: !4)
!10 = !DILocation(line: 8, column: 36, scope: !4)
!11 = !DILocation(line: 9, column: 16, scope: !4)
!12 = !DILocation(line: 10, column: 17, scope: !4)
!13 = !DILocation(line: 10, column: 33, scope: !4)
!14 = !DILocation(line: 10, column: 29, scope: !4)
!15 = !DILocation(line: 10, column: 62, scope: !4)
!16 = !DILocation(line: 10, column: 58, scope: !4)
!17 = !DILocation(line: 10, column: 50, scope: !4)
!18 = !DILocation(line: 10, column: 21, scope: !4)
!19 = !DILocation(line: 10, column: 4, scope: !4)
