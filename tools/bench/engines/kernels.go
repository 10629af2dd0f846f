package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// kernelRow holds the time of one distance, in nanoseconds.
type kernelRow struct {
	Kernel  string  `json:"kernel"`
	Element string  `json:"element"`
	Dim     int     `json:"dim"`
	Cached  float64 `json:"cached_ns"` // rows in the level 2 cache
	Memory  float64 `json:"memory_ns"` // rows from memory
}

// minKernelTime is the minimum duration of each measurement.
const minKernelTime = 20 * time.Millisecond

// kernels measures the three forms of each kernel: one query along consecutive rows, one query against
// scattered rows, and four queries against rows.
func (b *bench) kernels() error {
	b.logf("kernels")
	for _, dim := range []int{128, 768} {
		for _, c := range []struct {
			element dist.Element
			metric  dist.Metric
			profile dist.Profile
			name    string
		}{
			{dist.Float32, dist.L2, dist.HNSWLib, "L2, hnswlib's order"},
			{dist.Float32, dist.L2, dist.Faiss, "L2, faiss's order"},
			{dist.Float32, dist.L2, dist.Knowhere, "L2, knowhere's order"},
			{dist.Float32, dist.InnerProduct, dist.Knowhere, "inner product, knowhere's order"},
			{dist.Float16, dist.L2, dist.Knowhere, "L2"},
			{dist.BFloat16, dist.L2, dist.Knowhere, "L2"},
			{dist.Int8, dist.L2, dist.Knowhere, "L2"},
			{dist.Bit, dist.Hamming, dist.Knowhere, "Hamming"},
		} {
			k, err := dist.New(c.metric, c.element, c.profile, dim)
			if err != nil {
				return err
			}
			if err := b.kernel(k, c.name); err != nil {
				return err
			}
		}
		k, err := dist.NewOn(dist.Generic, dist.L2, dist.Float32, dist.HNSWLib, dim)
		if err != nil {
			return err
		}
		if err := b.kernel(k, "L2, the specification in Go"); err != nil {
			return err
		}
	}
	return nil
}

// kernel measures the forms of one kernel, with rows in the cache and in memory.
func (b *bench) kernel(k *dist.Kernel, name string) error {
	rows := make([]kernelRow, 3)
	for i, bytes := range []int{256 << 10, 128 << 20} {
		v, err := engine.NewVectors(k.Element, k.Dim, bytes/k.Element.Bytes(k.Dim))
		if err != nil {
			return err
		}
		for r := range v.Rows {
			v.Row(r)[0] = byte(r & 0x3f) // touch the row, with a value that is small in every type
		}
		took, err := forms(k, v)
		v.Release()
		if err != nil {
			return err
		}
		for f, form := range []string{"along rows", "four rows here and there", "four queries by four rows"} {
			rows[f].Kernel, rows[f].Element, rows[f].Dim = name+", "+form, fmt.Sprint(k.Element), k.Dim
			if i == 0 {
				rows[f].Cached = took[f]
			} else {
				rows[f].Memory = took[f]
			}
		}
	}
	b.report.Kernels = append(b.report.Kernels, rows...)
	return nil
}

// forms returns the nanoseconds per distance of Scan, Gather and Block.
func forms(k *dist.Kernel, v *engine.Vectors) ([3]float64, error) {
	var took [3]float64
	q, err := k.Query(v.Row(v.Rows / 2))
	if err != nil {
		return took, err
	}
	four, err := engine.NewVectors(dist.Int8, (len(q)+63)&^63, 4)
	if err != nil {
		return took, err
	}
	for i := range 4 {
		copy(four.Row(i), q)
	}
	query := four.Base()
	random := rand.New(rand.NewPCG(1, 2))
	ids := make([]uint32, v.Rows)
	for i := range ids {
		ids[i] = uint32(random.IntN(v.Rows))
	}
	const run = 32 // rows per call, like the neighbours of a graph node
	out := make([]float32, 4*run)
	whole := v.Rows / run * run
	stride := uintptr(v.Stride)
	row := func(i int) uintptr { return uintptr(i) * stride }
	for form, call := range []func(at int){
		func(at int) { k.Scan(query, unsafe.Add(v.Base(), row(at)), stride, out[:run]) },
		func(at int) { k.Gather(query, v.Base(), stride, ids[at:at+run], out) },
		func(at int) { k.Block(query, uintptr(four.Stride), unsafe.Add(v.Base(), row(at)), stride, out, run) },
	} {
		pass := func() error {
			for at := 0; at < whole; at += run {
				call(at)
			}
			return nil
		}
		_ = pass() // warm
		passes, total := 0, timing(0)
		for total < minKernelTime {
			t, _ := timeThread(pass) // pass returns no error
			total += max(t, 1)
			passes++
		}
		distances := passes * whole
		if form == 2 {
			distances *= 4
		}
		took[form] = float64(total.Nanoseconds()) / float64(distances)
	}
	return took, nil
}

func writeKernels(b *strings.Builder, rows []kernelRow) {
	b.WriteString("\nKernels, nanoseconds a distance:\n\n| kernel | element | dimensions | rows in the level 2 cache " +
		"| rows in memory |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %d | %.1f | %.1f |\n", r.Kernel, r.Element, r.Dim, r.Cached, r.Memory)
	}
}
