//go:build amd64 && !purego

#include "textflag.h"

// The filter of visited neighbours, to visit and to look ahead, and prefetches. The filter works on one slot at a time without a branch on
// the slot's bit, which follows no pattern: a gather would see a duplicate twice. Rows are fetched to the second-level cache: with
// prefetches to the first, HNSW searches in 100,000 x 128 took 1.4 times the time on a Zen 4.

// func visitAMD64(slots *uint32, count int, words *uint32, rows int, base unsafe.Pointer, stride uintptr, lines int, fresh *uint32) (ret int)
TEXT ·visitAMD64(SB), NOSPLIT, $0-72
	MOVQ  slots+0(FP), SI
	MOVQ  count+8(FP), CX
	MOVQ  words+16(FP), DI
	MOVQ  rows+24(FP), R8
	MOVQ  fresh+56(FP), R10
	XORQ  AX, AX
	XORQ  R12, R12
	TESTQ CX, CX
	JLE   done

slot:
	MOVL  (SI), R11
	CMPQ  R11, R8
	JAE   rowsof
	MOVL  R11, BX
	SHRL  $0x05, BX
	MOVL  (DI)(BX*4), R9
	BTSL  R11, R9
	SETCC R12
	MOVL  R9, (DI)(BX*4)
	MOVL  R11, (R10)(AX*4)
	ADDQ  R12, AX
	ADDQ  $0x04, SI
	DECQ  CX
	JNZ   slot

rowsof:
	MOVQ  lines+48(FP), CX
	TESTQ CX, CX
	JLE   done
	TESTQ AX, AX
	JZ    done
	MOVQ  stride+40(FP), R8
	MOVQ  base+32(FP), SI
	XORQ  DI, DI

row:
	MOVL  (R10)(DI*4), R11
	IMULQ R8, R11
	ADDQ  SI, R11
	MOVQ  CX, R12

line:
	PREFETCHT1 (R11)
	ADDQ       $0x40, R11
	DECQ       R12
	JNZ        line
	INCQ       DI
	CMPQ       DI, AX
	JLT        row

done:
	MOVQ AX, ret+64(FP)
	RET

// func peekAMD64(slots *uint32, count int, words *uint32, rows int, base unsafe.Pointer, stride uintptr, lines int, fresh *uint32) (ret int)
TEXT ·peekAMD64(SB), NOSPLIT, $0-72
	MOVQ  slots+0(FP), SI
	MOVQ  count+8(FP), CX
	MOVQ  words+16(FP), DI
	MOVQ  rows+24(FP), R8
	MOVQ  fresh+56(FP), R10
	XORQ  AX, AX
	XORQ  R12, R12
	TESTQ CX, CX
	JLE   done

slot:
	MOVL  (SI), R11
	CMPQ  R11, R8
	JAE   rowsof
	MOVL  R11, BX
	SHRL  $0x05, BX
	MOVL  (DI)(BX*4), R9
	BTL   R11, R9
	SETCC R12
	MOVL  R11, (R10)(AX*4)
	ADDQ  R12, AX
	ADDQ  $0x04, SI
	DECQ  CX
	JNZ   slot

rowsof:
	MOVQ  lines+48(FP), CX
	TESTQ CX, CX
	JLE   done
	TESTQ AX, AX
	JZ    done
	MOVQ  stride+40(FP), R8
	MOVQ  base+32(FP), SI
	XORQ  DI, DI

row:
	MOVL  (R10)(DI*4), R11
	IMULQ R8, R11
	ADDQ  SI, R11
	MOVQ  CX, R12

line:
	PREFETCHT1 (R11)
	ADDQ       $0x40, R11
	DECQ       R12
	JNZ        line
	INCQ       DI
	CMPQ       DI, AX
	JLT        row

done:
	MOVQ AX, ret+64(FP)
	RET

// func prefetchAMD64(p unsafe.Pointer, lines int)
TEXT ·prefetchAMD64(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ lines+8(FP), CX

line:
	PREFETCHT0 (AX)
	ADDQ       $0x40, AX
	DECQ       CX
	JG         line
	RET

// func prefetchRowsAMD64(base unsafe.Pointer, stride uintptr, ids *uint32, count int, lines int)
TEXT ·prefetchRowsAMD64(SB), NOSPLIT, $0-40
	MOVQ base+0(FP), SI
	MOVQ stride+8(FP), DI
	MOVQ ids+16(FP), DX
	MOVQ count+24(FP), CX
	MOVQ lines+32(FP), R8

row:
	MOVL  (DX), AX
	IMULQ DI, AX
	ADDQ  SI, AX
	MOVQ  R8, BX

line:
	PREFETCHT1 (AX)
	ADDQ       $0x40, AX
	DECQ       BX
	JNZ        line
	ADDQ       $0x04, DX
	DECQ       CX
	JNZ        row
	RET
