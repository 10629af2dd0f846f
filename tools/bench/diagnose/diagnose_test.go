package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkRun/first-2         	       5	 134020003 ns/op	       108.9 cpu-ms/op
BenchmarkRun/again-2         	       5	  %s ns/op	         9.291 cpu-ms/op
BenchmarkRun/asked-2         	       5	  71141682 ns/op	        77.96 cpu-ms/op
BenchmarkAsk200-2            	       5	3241682000 ns/op	        241.0 ms-beyond	  120.5 MB-before	  512.1 MB-peak
PASS
`

func TestTable(t *testing.T) {
	r := report{machine: "here", found: make(samples)}
	for _, wall := range []string{"90000000", "49000000", "20000000"} {
		if err := r.found.read(strings.Replace(output, "%s", wall, 1)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.markdown()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| judging all, never seen before: CPU | 0.11 s (0.11 s to 0.11 s) | 0.50 s | ✓ pass |\n",
		"| judging again after one change: wall | 49.0 ms (20.0 ms to 90.0 ms) | 50.0 ms | ✓ pass |\n",
		"| asking all, beyond the deadline of 3 s | 0.24 s (0.24 s to 0.24 s) | 0.50 s | ✓ pass |\n",
		"| asking all: peak memory | 512 MB (512 MB to 512 MB) | 400 MB | ✗ short |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	r := report{found: make(samples)}
	if err := r.found.read("BenchmarkRun/first-2 5 134020003 ns/op 108.9 cpu-ms/op\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := r.markdown(); err == nil {
		t.Errorf("no error though most was not measured:\n%s", text)
	}
	if err := r.found.read("BenchmarkRun/first-2 5 x ns/op\n"); err == nil {
		t.Error("no error for a figure that is none")
	}
}
