package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// resident is the report of a fresh process of this program that has loaded an index and searched it, in
// bytes.
type resident struct {
	Base   int64 `json:"base"`   // before
	Loaded int64 `json:"loaded"` // after
	Parts  int64 `json:"parts"`  // vectors and links alone
}

// rss compares the memory of processes that have loaded the same file and run every query once: ours, and
// hnswlib in Python.
func (b *bench) rss(ctx context.Context) error {
	for _, dim := range []int{128, 768} {
		f := b.set(dim)
		if err := b.ensureHNSWLib(ctx, f); err != nil {
			return err
		}
		b.logf("%s: memory", f.name())
		ours, err := b.ourRSS(ctx, f)
		if err != nil {
			return err
		}
		theirs, err := b.theirRSS(ctx, f)
		if err != nil {
			return err
		}
		used := float64(ours.Loaded - ours.Base)
		ratio := func(of int64) spread { r := used / float64(of); return spread{r, r, r} }
		for _, r := range []row{
			{Ratio: ratio(ours.Parts), Bar: 1.35, Their: megabytes(ours.Parts) + " of vectors and links"},
			{Ratio: ratio(theirs), Their: megabytes(theirs) + ", hnswlib"},
		} {
			r.Part, r.What, r.AtMost = partRSS, "RSS of a loaded index, "+f.title(), true
			r.Ours = fmt.Sprintf("%s on top of the %s of a fresh process", megabytes(int64(used)), megabytes(ours.Base))
			b.report.add(r)
		}
	}
	return nil
}

// ourRSS starts this program again with -resident, which loads an index and prints its memory.
func (b *bench) ourRSS(ctx context.Context, f files) (resident, error) {
	var r resident
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, "-resident", f.base)
	cmd.Stderr = b.progress
	text, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", cmd, err)
	}
	return r, json.Unmarshal(text, &r)
}

func (b *bench) theirRSS(ctx context.Context, f files) (int64, error) {
	p, err := startPeer(ctx, b.python)
	if err != nil {
		return 0, err
	}
	defer func() { _ = p.close() }() // its answers were all read
	if _, err := p.do("matrix", args{"name": "q", "file": f.queries}); err != nil {
		return 0, err
	}
	before, err := p.do("rss", nil)
	if err != nil {
		return 0, err
	}
	err = p.doAll(
		args{"op": "hnswlib_load", "name": "index", "file": f.hnswlib, "dim": f.dim},
		args{"op": "hnswlib_search", "name": "index", "queries": "q", "k": topK, "ef": 64},
	)
	if err != nil {
		return 0, err
	}
	after, err := p.do("rss", nil)
	return after.RSS - before.RSS, err
}

// printResident implements -resident: it loads the index of a set, searches it and prints the memory used.
func printResident(ctx context.Context, base string, out io.Writer) error {
	set, err := dataset.Open(ctx, base+".queries.npy")
	if err != nil {
		return err
	}
	defer set.Close()
	var r resident
	if r.Base, err = vmRSS(); err != nil {
		return err
	}
	file, err := index.OpenFile(ctx, base+".hnswlib", index.Hint{Dim: set.Vectors.Dim})
	if err != nil {
		return err
	}
	defer file.Close()
	if file.CodesPay(manySearches) {
		if err := file.Quantize(0); err != nil {
			return err
		}
	}
	x := index.As[hnsw.Index](file)
	s, err := x.NewSearcher(hnsw.Options{Library: engine.HNSWLib})
	if err != nil {
		return err
	}
	for i := range set.Vectors.Rows {
		if _, _, err := s.SearchFloat32(set.Vectors.Float32(i), hnsw.Params{K: topK, EF: 64}, nil); err != nil {
			return err
		}
	}
	if r.Loaded, err = vmRSS(); err != nil {
		return err
	}
	r.Parts = int64(x.Vectors.Rows)*int64(x.Vectors.Size()) + 4*int64(len(x.Base)+len(x.Upper))
	return json.NewEncoder(out).Encode(r)
}

// vmRSS returns the resident memory of this process in bytes (proc(5)).
func vmRSS() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10,
				64)
			return kilobytes << 10, err
		}
	}
	return 0, errors.New("no VmRSS in /proc/self/status")
}
