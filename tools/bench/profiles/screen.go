package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// screen runs the benchmarks of the terminal's flame graph: 100,000 frames on 200 columns and 60 lines.
func (b *bench) screen(ctx context.Context, r *report) error {
	b.logf("the terminal's flame graph")
	r.screen = figures{}
	for range b.rounds {
		cmd := exec.CommandContext(ctx, b.ui, "-test.run=^$", "-test.bench=^BenchmarkFlameView$", "-test.benchtime=60x")
		cmd.Dir = filepath.Join(b.repo, "tui", "profiles")
		text, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		if err := r.screen.read(string(text)); err != nil {
			return err
		}
	}
	return nil
}

// figures holds the nanoseconds of each benchmark, one value per round.
type figures map[string][]float64

// read parses the output of a test program and adds its values.
func (f figures) read(text string) error {
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		fields := strings.Fields(scan.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") || fields[3] != "ns/op" {
			continue
		}
		name := fields[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 { // GOMAXPROCS
			name = name[:i]
		}
		v, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return fmt.Errorf("read %q: %w", scan.Text(), err)
		}
		f[name] = append(f[name], v)
	}
	return nil
}
