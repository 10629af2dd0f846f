//go:build amd64 && !purego

#include "textflag.h"

// The kernel of sorted lists. Behind the nodes of a list are infinities: the last place of its room holds what has to be beaten, full or
// not. Elements move by one place from the last vector down, while all of a vector are greater.

// func rankAVX512(d *float32, list *uint32, n int, room int, x *float32, ids *uint32, count int) (ret int64)
TEXT ·rankAVX512(SB), NOSPLIT, $0-64
	MOVQ d+0(FP), SI
	MOVQ list+8(FP), DI
	MOVQ n+16(FP), AX
	MOVQ room+24(FP), BX
	MOVQ x+32(FP), DX
	MOVQ ids+40(FP), R8
	MOVQ count+48(FP), CX
	MOVL $0x00ffffff, R9
	XORL R10, R10
	CMPQ AX, BX
	JEQ  chunk

finite:
	MOVL  $0x0000ffff, R11
	CMPQ  CX, $0x10
	JGE   some
	BZHIL CX, R11, R11

some:
	KMOVW        R11, K1
	VMOVUPS.Z    (DX), K1, Z0
	VBROADCASTSS -4(SI)(BX*4), Z1
	VCMPPS       $0x01, Z1, Z0, K1, K2
	KMOVW        K2, R12
	CMPL         R12, R11
	JNE          odd
	ADDQ         $0x40, DX
	SUBQ         $0x10, CX
	JGT          finite
	MOVQ         x+32(FP), DX
	MOVQ         count+48(FP), CX

chunk:
	MOVL  $0x0000ffff, R11
	CMPQ  CX, $0x10
	JGE   most
	BZHIL CX, R11, R11

most:
	KMOVW        R11, K1
	VMOVUPS.Z    (DX), K1, Z0
	VBROADCASTSS -4(SI)(BX*4), Z1
	VCMPPS       $0x01, Z1, Z0, K1, K2
	KMOVW        K2, R12
	TESTL        R12, R12
	JZ           next

one:
	TZCNTL       R12, R13
	VBROADCASTSS (DX)(R13*4), Z2
	VUCOMISS     -4(SI)(BX*4), X2
	JAE          passed
	LEAQ         -1(AX), R14
	ANDQ         $-16, R14

vector:
	VMOVUPS   (SI)(R14*4), Z3
	VMOVDQU32 (DI)(R14*4), Z4
	VCMPPS    $0x0e, Z2, Z3, K3
	KMOVW     K3, R15
	CMPL      R15, $0x0000ffff
	JNE       place
	TESTQ     R14, R14
	JZ        place
	VMOVUPS   Z3, 4(SI)(R14*4)
	VMOVDQU32 Z4, 4(DI)(R14*4)
	SUBQ      $0x10, R14
	JMP       vector

place:
	VMOVUPS   Z3, K3, 4(SI)(R14*4)
	VMOVDQU32 Z4, K3, 4(DI)(R14*4)
	BTSL      $0x10, R15
	TZCNTL    R15, R15
	ADDQ      R15, R14
	VMOVSS    X2, (SI)(R14*4)
	MOVL      (R8)(R13*4), R13
	MOVL      R13, (DI)(R14*4)
	VCMPPS    $0x00, Z2, Z3, K4
	KMOVW     K4, R15
	ORL       R15, R10
	CMPQ      R14, R9
	CMOVQLT   R14, R9
	MOVL      $0x7f800000, (SI)(BX*4)
	CMPQ      AX, BX
	ADCQ      $0x00, AX

passed:
	BLSRL R12, R12
	JNZ   one

next:
	ADDQ $0x40, DX
	ADDQ $0x40, R8
	SUBQ $0x10, CX
	JGT  chunk
	SHLQ $0x18, R9
	ORQ  R9, AX
	NEGL R10
	SBBQ R10, R10
	SHRQ $0x3f, R10
	SHLQ $0x30, R10
	ORQ  R10, AX
	MOVQ AX, ret+56(FP)
	VZEROUPPER
	RET

odd:
	MOVQ $-1, AX
	MOVQ AX, ret+56(FP)
	VZEROUPPER
	RET
