package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/report"
)

// FuzzReports checks that no report crashes on a profile of arbitrary bytes.
func FuzzReports(f *testing.F) {
	for _, name := range []string{
		"t5/querynode2.cpu.pb.gz", "t5/indexnode.cpu.pb.gz", "milvus-threadcreate.pb.gz", "milvus-block.pb.gz",
	} {
		file, err := os.Open(filepath.Join(fixtures, name))
		if err != nil {
			f.Fatal(err)
		}
		defer file.Close()
		plain, err := gzip.NewReader(file)
		if err != nil {
			f.Fatal(err)
		}
		data, err := io.ReadAll(plain)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "runtime", uint8(0))
		f.Add(data, "", uint8(255))
	}
	f.Fuzz(func(t *testing.T, data []byte, word string, bits uint8) {
		p, err := profile.Decode(context.Background(), bytes.NewReader(data), profile.Limits{MaxMemory: 64 << 20})
		if err != nil {
			return
		}
		expression := rx(regexp.QuoteMeta(strings.ToValidUTF8(word, "")))
		o := report.Options{SortCum: bits&1 > 0, FoldPreempt: bits&8 > 0}
		if bits&16 > 0 {
			o.Filter.Hide = expression
		}
		if bits&64 > 0 {
			o.Filter.Focus, o.Filter.Nodes = expression, []string{word}
		}
		for by := profile.ByFunction; by <= profile.ByNode; by++ {
			o.By = by
			top, err := report.NewTop(p, o)
			if err != nil {
				return // no types
			}
			for _, e := range top.Entries {
				top.Percent(e.Flat)
			}
		}
		o.By = profile.ByFunction
		_, _ = report.NewComparison(p, p, report.CompareOptions{Options: o, Normalize: bits&128 > 0})
	})
}
