package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// savedPart holds the results of a part, for later runs with -resume.
type savedPart struct {
	Machine, Peers string
	SetRows        int // -rows
	Load           [2]string
	Rows           []row
	Kernels        []kernelRow
}

func (b *bench) partPath(part string) string { return filepath.Join(b.cache, "measured", part+".json") }

// savePart saves the results of a part. load is the load average before it.
func (b *bench) savePart(part string, rows []row, kernels []kernelRow, load string) error {
	data, err := json.Marshal(savedPart{
		Machine: b.report.Machine, Peers: b.report.Peers, SetRows: b.rows, Load: [2]string{load, loadAverage()},
		Rows: rows, Kernels: kernels,
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.partPath(part)), 0o755); err != nil {
		return err
	}
	return replaceFile(b.partPath(part), func(out *os.File) error {
		_, err := out.Write(data)
		return err
	})
}

// loadPart adds the saved results of a part and reports whether there were any for this machine, these peers and
// sets.
func (b *bench) loadPart(part string) bool {
	data, err := os.ReadFile(b.partPath(part))
	if err != nil {
		return false
	}
	var k savedPart
	r := &b.report
	if json.Unmarshal(data, &k) != nil || k.Machine != r.Machine || k.Peers != r.Peers || k.SetRows != b.rows {
		return false
	}
	r.Earlier = append(r.Earlier, part)
	r.EarlierLoad = append(r.EarlierLoad, k.Load[:]...)
	for _, x := range k.Rows {
		r.add(x)
	}
	r.Kernels = append(r.Kernels, k.Kernels...)
	return true
}

// minAndMax returns the smallest and the largest of some load averages.
func minAndMax(loads []string) (least, most string) {
	byNumber := func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return slices.MinFunc(loads, byNumber), slices.MaxFunc(loads, byNumber)
}
