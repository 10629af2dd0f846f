// Package profilegen generates CPU profiles of imaginary programs from a Shape. Each is written once, into
// the user's cache.
package profilegen

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Shape is the size of a generated profile. The bytes of the profile follow from the shape alone.
type Shape struct {
	Samples, Functions, Depth int
	Seed                      uint64
}

// Big returns the shape of the profile in the speed table: 120 MB, or 93 MB compressed. It is a hard case,
// because its stacks share few frames and so compress badly. Most stacks of a real program are similar.
func Big() Shape { return Shape{Samples: 1_000_000, Functions: 20_000, Depth: 50, Seed: 1} }

// Part returns the shape of the i-th of the profiles that are merged. They are of one program and have
// different stacks.
func Part(i int) Shape {
	return Shape{Samples: 5_000, Functions: 4_000, Depth: 50, Seed: 100 + uint64(i)}
}

const (
	// chain is the number of outermost frames that depend on the handler alone.
	chain = 8
	// callees is the number of functions that each function calls.
	callees = 6
)

// call returns the nth function that the function from calls.
func (s Shape) call(from, nth uint64) uint64 {
	return 1 + (from*104729+nth*7919+from*from*31)%uint64(s.Functions-1)
}

// CacheDir returns the directory where generated profiles are cached, and creates it.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "kitescope-bench", "profiles-3")
	return dir, os.MkdirAll(dir, 0o755)
}

// File returns the path of a generated profile. It writes the profile unless it exists.
func (s Shape) File(dir string) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%d-%d-%d-%d.pb.gz", s.Samples, s.Functions, s.Depth, s.Seed))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return "", err
	}
	zip := gzip.NewWriter(f)
	out := bufio.NewWriterSize(zip, 1<<20)
	err = s.write(out)
	if err := errors.Join(err, out.Flush(), zip.Close(), f.Close()); err != nil {
		return "", fmt.Errorf("generate %s: %w", path, err)
	}
	return path, os.Rename(f.Name(), path)
}

// write writes a CPU profile in which each function is one location. Field numbers are those of google/pprof
// proto/profile.proto.
func (s Shape) write(w io.Writer) error {
	r := rand.New(rand.NewPCG(s.Seed, 0x9e37))
	names := []string{"", "samples", "count", "cpu", "nanoseconds", "/usr/bin/generated"}
	var b []byte
	b = message(b, 1, fields(1, 2))
	b = message(b, 1, fields(3, 4))
	var stack, sample []byte
	var frames []uint64
	for range s.Samples {
		stack, sample = stack[:0], sample[:0]
		// The outermost frames are main, one of the handlers, some of which are far busier than others, and a
		// chain that the handler determines. Below that, each function calls a few others.
		at := uint64(r.IntN(8) * r.IntN(9))
		frames = append(frames[:0], 0, 1+at)
		for range s.Depth - 10 + r.IntN(20) {
			callee := uint64(0)
			if len(frames) > chain {
				callee = r.Uint64N(callees)
			}
			at = s.call(at, callee)
			frames = append(frames, at)
		}
		for i := range frames {
			stack = binary.AppendUvarint(stack, 1+frames[len(frames)-1-i])
		}
		n := 1 + r.Uint64N(3)
		sample = message(sample, 1, stack)
		sample = message(sample, 2, binary.AppendUvarint(binary.AppendUvarint(nil, n), n*10_000_000))
		b = message(b, 2, sample)
		if len(b) > 1<<16 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	b = message(b, 3, append(fields(1, 0x400000, 0x4000000, 0, 5), 7<<3, 1))
	for i := range uint64(s.Functions) {
		line := fields(i+1, 10+i%900)
		b = message(b, 4, message(fields(i+1, 1, 0x401000+i*0x140), 4, line))
		name, file := uint64(len(names)), uint64(len(names)+1)
		names = append(names, fmt.Sprintf("example.org/service/package%d.(*Type%d).method%d", i%97, i%1009, i),
			fmt.Sprintf("/src/service/package%d/file%d.go", i%97, i))
		b = message(b, 5, fields(i+1, name, name, file, 1+i%900))
	}
	for _, n := range names {
		b = message(b, 6, []byte(n))
	}
	b = append(b, fieldsAt(9, 1_790_000_000_000_000_000, 60_000_000_000)...)
	b = message(b, 11, fields(3, 4))
	b = append(b, fieldsAt(12, 10_000_000)...)
	_, err := w.Write(b)
	return err
}

// message appends a length-delimited field: a message, a string or packed numbers.
func message(b []byte, number byte, content []byte) []byte {
	b = append(b, number<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// fields encodes numbers as the fields 1, 2, 3 and so on.
func fields(values ...uint64) []byte { return fieldsAt(1, values...) }

// fieldsAt encodes numbers as fields from number first on.
func fieldsAt(first byte, values ...uint64) []byte {
	var b []byte
	for i, v := range values {
		b = append(b, (first+byte(i))<<3)
		b = binary.AppendUvarint(b, v)
	}
	return b
}
