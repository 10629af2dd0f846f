package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// plainLists is an inverted index in plain C++ without a library.
//
//go:embed plain/sparse.cpp
var plainLists string

// sparseShape describes a set of sparse vectors: the mean number of values of rows and of queries, and the
// number of dimensions, whose frequencies are like those of words.
type sparseShape struct {
	name            string
	dims            int
	values, queried int
}

const sparseQueries = 100

// sparse compares our search of sparse vectors, which uses knowhere's algorithms, with plain lists in C++.
func (b *bench) sparse(ctx context.Context) error {
	program, err := b.plainProgram(ctx)
	if err != nil {
		return err
	}
	for _, s := range []sparseShape{{"learned", 30_000, 120, 40}, {"words", 100_000, 60, 5}} {
		if err := b.sparseOf(ctx, s, program); err != nil {
			return err
		}
	}
	return nil
}

// plainProgram builds the C++ program for this CPU.
func (b *bench) plainProgram(ctx context.Context) (string, error) {
	source, program := filepath.Join(b.scratch, "sparse.cpp"), filepath.Join(b.scratch, "sparse")
	if err := os.WriteFile(source, []byte(plainLists), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "g++", "-std=c++17", "-O3", "-march=native", "-o", program,
		source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("g++: %w: %s", err, out)
	}
	return program, nil
}

// draw returns rows whose dimensions follow a power law and whose values are like logarithms of counts.
func (s sparseShape) draw(rng *rand.Rand, rows, values int) [][]byte {
	list := make([][]byte, rows)
	for i := range list {
		seen := map[uint32]bool{}
		for range values/2 + rng.IntN(values+1) {
			seen[uint32(float64(s.dims)*math.Pow(rng.Float64(), 3))] = true
		}
		var dims []uint32
		for d := range seen {
			dims = append(dims, d)
		}
		slices.Sort(dims)
		for _, d := range dims {
			list[i] = sparse.AppendPair(list[i], d, float32(math.Log1p(3*rng.ExpFloat64())))
		}
	}
	return list
}

// writeCSR writes rows in CSR format for the C++ program.
func writeCSR(path string, dims int, rows [][]byte) error {
	total := 0
	starts := []uint64{0}
	for _, row := range rows {
		total += len(row) / sparse.PairBytes
		starts = append(starts, uint64(total))
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(rows)))
	out = binary.LittleEndian.AppendUint64(out, uint64(dims))
	out = binary.LittleEndian.AppendUint64(out, uint64(total))
	for _, at := range starts {
		out = binary.LittleEndian.AppendUint64(out, at)
	}
	for part := range 2 {
		for _, row := range rows {
			for ; len(row) > 0; row = row[sparse.PairBytes:] {
				out = append(out, row[4*part:4*part+4]...)
			}
		}
	}
	return os.WriteFile(path, out, 0o600)
}

// plainProcess is the running C++ program.
type plainProcess struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startPlain(ctx context.Context, program, base, queries string, k int) (*plainProcess, error) {
	p := &plainProcess{cmd: exec.CommandContext(ctx, program, base, queries, strconv.Itoa(k))}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p, p.cmd.Start()
}

func (p *plainProcess) search() (timing, error) {
	if _, err := io.WriteString(p.in, "search\n"); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return timing(ns), err
}

// answers returns the hits of all queries.
func (p *plainProcess) answers(queries int) ([][]engine.Hit, error) {
	if _, err := io.WriteString(p.in, "answers\n"); err != nil {
		return nil, err
	}
	all := make([][]engine.Hit, queries)
	for i := range all {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		fields := strings.Fields(line)
		for j := 0; j+1 < len(fields); j += 2 {
			id, _ := strconv.ParseInt(fields[j], 10, 64)
			score, _ := strconv.ParseFloat(fields[j+1], 32)
			all[i] = append(all[i], engine.Hit{ID: id, Distance: float32(score)})
		}
	}
	return all, nil
}

func (b *bench) sparseOf(ctx context.Context, s sparseShape, program string) (err error) {
	b.logf("sparse, %s", s.name)
	const k = 10
	rng := rand.New(rand.NewPCG(1, uint64(s.dims)))
	base, queries := filepath.Join(b.scratch, s.name+".csr"), filepath.Join(b.scratch, s.name+".queries.csr")
	if err := writeCSR(base, s.dims, s.draw(rng, b.rows, s.values)); err != nil {
		return err
	}
	if err := writeCSR(queries, s.dims, s.draw(rng, sparseQueries, s.queried)); err != nil {
		return err
	}
	rows, err := dataset.Open(ctx, base)
	if err != nil {
		return err
	}
	defer rows.Close()
	asked, err := dataset.Open(ctx, queries)
	if err != nil {
		return err
	}
	defer asked.Close()
	x, err := sparse.Build(rows.Vectors, dist.InnerProduct)
	if err != nil {
		return err
	}
	theirs, err := startPlain(ctx, program, base, queries, k)
	if err != nil {
		return err
	}
	defer func() {
		_ = theirs.in.Close()
		_ = theirs.cmd.Wait()
	}()
	return b.sparseSearch(x, asked.Vectors, theirs, k, s)
}

func (b *bench) sparseSearch(
	x *sparse.Index, queries *engine.Vectors, theirs *plainProcess, k int, s sparseShape,
) error {
	searcher, err := sparse.New(x, sparse.Options{})
	if err != nil {
		return err
	}
	hits := make([][]engine.Hit, queries.Rows)
	got, err := pair{
		ours: func() (timing, error) {
			return timeThread(func() (err error) {
				for i := 0; i < queries.Rows && err == nil; i++ {
					hits[i], err = searcher.Search(queries.Row(i), sparse.Params{K: k}, hits[i][:0])
				}
				return err
			})
		},
		theirs: theirs.search,
	}.run(b.rounds)
	if err != nil {
		return err
	}
	want, err := theirs.answers(queries.Rows)
	if err != nil {
		return err
	}
	r := row{
		Part: partSparse, What: fmt.Sprintf("sparse, %s, %s rows", s.name, thousands(b.rows)), Ratio: got.faster(),
		Ours:  span(medianPerOp(got.Ours, queries.Rows)),
		Their: span(medianPerOp(got.Theirs, queries.Rows)) + ", plain lists in C++",
	}
	r.Bar = 1
	far := 0
	for i := range want {
		for j := range want[i] {
			if d := hits[i][j].Distance - want[i][j].Distance; math.Abs(float64(d)) > 1e-5*float64(
				want[i][j].Distance,
			) {
				far++
			}
		}
	}
	r.Same, r.Wrong = "scores equal to 1e-5", far > 0
	b.report.add(r)
	return nil
}
