//go:build amd64 && !purego

package dist

import "golang.org/x/sys/cpu"

// halfNative are the kernels of an order of addition. The SSE order of float16, one sum in
// turn, has none; a block of AVX2 is four scans, its registers hold no more.
func halfNative(b Backend, m Metric, e Element, o halfOrder) (forms, bool) {
	var of func(Metric, halfOrder) forms
	switch {
	case b == AVX512 && o.lanes == 16 && e == Float16:
		of = float16AVX512
	case b == AVX512 && o.lanes == 16:
		of = bfloat16AVX512
	case b != AVX2 && b != AVX512 || o.lanes == 1:
		return forms{}, false
	case e == Float16:
		of = float16AVX2
	default:
		of = bfloat16AVX2
	}
	f := of(m, o)
	if f.scan == nil {
		f.block = gatherBlock(f.gather)
	} else if f.block == nil {
		f.block = scanBlock(f.scan)
	}
	return f, true
}

func float16AVX512(m Metric, o halfOrder) forms {
	if m == L2 && o.accs == 1 {
		return forms{gather: float16L2Gather16x1AVX512}
	}
	if m == L2 {
		return forms{gather: float16L2Gather16x2AVX512, scan: float16L2Scan16x2AVX512, block: float16L2Block16x2AVX512}
	}
	return forms{gather: float16IPGather16x1AVX512, scan: float16IPScan16x1AVX512, block: float16IPBlock16x1AVX512}
}

func bfloat16AVX512(m Metric, o halfOrder) forms {
	switch {
	case m == L2 && o.accs == 1:
		return forms{gather: bfloat16L2Gather16x1AVX512}
	case o.accs == 1:
		return forms{gather: bfloat16IPGather16x1AVX512}
	case m == L2:
		return forms{gather: bfloat16L2Gather16x2AVX512, scan: bfloat16L2Scan16x2AVX512, block: bfloat16L2Block16x2AVX512}
	}
	return forms{gather: bfloat16IPGather16x2AVX512, scan: bfloat16IPScan16x2AVX512, block: bfloat16IPBlock16x2AVX512}
}

func float16AVX2(m Metric, o halfOrder) forms {
	switch {
	case m == L2 && o.lanes == 16 && o.accs == 1:
		return forms{gather: float16L2Gather16x1AVX2}
	case m == L2 && o.lanes == 16:
		return forms{gather: float16L2Gather16x2AVX2, scan: float16L2Scan16x2AVX2}
	case m == L2:
		return forms{gather: float16L2Gather8x1AVX2, scan: float16L2Scan8x1AVX2}
	case o.lanes == 16:
		return forms{gather: float16IPGather16x1AVX2, scan: float16IPScan16x1AVX2}
	}
	return forms{gather: float16IPGather8x1AVX2, scan: float16IPScan8x1AVX2}
}

func bfloat16AVX2(m Metric, o halfOrder) forms {
	switch {
	case m == L2 && o.lanes == 16 && o.accs == 1:
		return forms{gather: bfloat16L2Gather16x1AVX2}
	case o.lanes == 16 && o.accs == 1:
		return forms{gather: bfloat16IPGather16x1AVX2}
	case m == L2 && o.lanes == 16:
		return forms{gather: bfloat16L2Gather16x2AVX2, scan: bfloat16L2Scan16x2AVX2}
	case m == L2 && o.lanes == 8:
		return forms{gather: bfloat16L2Gather8x1AVX2, scan: bfloat16L2Scan8x1AVX2}
	case m == L2:
		return forms{gather: bfloat16L2Gather4x1AVX2, scan: bfloat16L2Scan4x1AVX2}
	case o.lanes == 16:
		return forms{gather: bfloat16IPGather16x2AVX2, scan: bfloat16IPScan16x2AVX2}
	case o.lanes == 8:
		return forms{gather: bfloat16IPGather8x1AVX2, scan: bfloat16IPScan8x1AVX2}
	}
	return forms{gather: bfloat16IPGather4x1AVX2, scan: bfloat16IPScan4x1AVX2}
}

// int8Native are the int8 kernels.
func int8Native(b Backend, m Metric) (forms, bool) {
	var f forms
	switch {
	case b == AVX512 && m == L2:
		f = forms{gather: int8L2GatherAVX512, scan: int8L2ScanAVX512}
	case b == AVX512:
		f = forms{gather: int8IPGatherAVX512, scan: int8IPScanAVX512}
	case b == AVX2 && m == L2:
		f = forms{gather: int8L2GatherAVX2, scan: int8L2ScanAVX2}
	case b == AVX2:
		f = forms{gather: int8IPGatherAVX2, scan: int8IPScanAVX2}
	default:
		return forms{}, false
	}
	f.block = scanBlock(f.scan)
	return f, true
}

// bitNative are the kernels of bits. They need an extension that came two generations after
// AVX-512.
func bitNative(b Backend, m Metric) (forms, bool) {
	if b != AVX512 || !cpu.X86.HasAVX512VPOPCNTDQ {
		return forms{}, false
	}
	f := forms{gather: hammingGatherAVX512, scan: hammingScanAVX512}
	if m == Jaccard {
		f = forms{gather: jaccardGatherAVX512, scan: jaccardScanAVX512}
	}
	f.block = scanBlock(f.scan)
	return f, true
}
