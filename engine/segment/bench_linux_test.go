package segment

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/object"
)

var gigabyteFlag = flag.Int("vector-bytes", 64<<20,
	"bytes of vectors that BenchmarkReadGigabyte reads; 1000000000 for the documentation")

// BenchmarkReadGigabyte reads a segment of insert logs: vectors, primary keys and timestamps. The logs have 16 MiB,
// as flushed by data nodes of Milvus 2.3 (dataNode.segment.insertBufSize), and use zstd in pages of 1 MiB. It
// reports bytes of vectors per second of CPU time, and the additional peak memory of the process as a multiple of
// the vectors.
func BenchmarkReadGigabyte(b *testing.B) {
	for _, kind := range []string{"gaussian", "integers"} {
		for _, dim := range []int{128, 768} {
			b.Run(fmt.Sprintf("%s/%d", kind, dim), func(b *testing.B) {
				store, err := object.OpenFolder(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer store.Close()
				files := writeLogs(b, fmt.Sprint(store), kind, dim)
				b.SetBytes(int64(*gigabyteFlag))
				schema := Schema{PrimaryKey: 100, Vector: 101, Metric: dist.L2}
				runtime.GC() // twice, to empty the pools
				debug.FreeOSMemory()
				before, used := peak(b, true), cpu(b)
				for b.Loop() {
					s, err := Open(b.Context(), store, files, schema)
					if err != nil {
						b.Fatal(err)
					}
					s.Release()
				}
				b.ReportMetric(float64(*gigabyteFlag)*float64(b.N)/(cpu(b)-used)/1e9, "GB/cpu-s")
				b.ReportMetric(float64(peak(b, false)-before)/float64(*gigabyteFlag), "peak/vectors")
			})
		}
	}
}

// writeLogs writes a segment whose vectors resemble embeddings (gaussian, normalized) or SIFT (small integers).
func writeLogs(b *testing.B, dir, kind string, dim int) *Files {
	b.Helper()
	r := rand.New(rand.NewPCG(uint64(dim), 7))
	files := &Files{Collection: 1, Partition: 2, Segment: 3, Insert: map[int64][]string{}}
	rows, perLog := *gigabyteFlag/(4*dim), (16<<20)/(4*dim)
	write := func(field int64, log int, c *binlog.Column) {
		name := fmt.Sprintf("insert_log/1/2/3/%d/%d", field, 1000+log)
		c.Descriptor.Collection, c.Partition, c.Segment, c.Field = 1, 2, 3, field
		var out bytes.Buffer
		if err := binlogtest.WriteColumn(&out, c); err != nil {
			b.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		files.Insert[field] = append(files.Insert[field], name)
	}
	for log := 0; log*perLog < rows; log++ {
		n := min(perLog, rows-log*perLog)
		v, err := engine.NewVectors(dist.Float32, dim, n)
		if err != nil {
			b.Fatal(err)
		}
		keys, stamps := make([]int64, n), make([]int64, n)
		for i := range n {
			row := v.Float32(i)
			for j := range row {
				if kind == "integers" {
					row[j] = float32(min(218, math.Floor(math.Abs(r.NormFloat64())*40)))
				} else {
					row[j] = float32(r.NormFloat64() / math.Sqrt(float64(dim)))
				}
			}
			keys[i], stamps[i] = int64(r.Uint64()>>1), int64(445e15)+int64(log)<<18
		}
		write(101, log, &binlog.Column{Descriptor: binlog.Descriptor{Type: binlog.FloatVector}, Rows: n, Vectors: v})
		v.Release()
		write(100, log, &binlog.Column{Descriptor: binlog.Descriptor{Type: binlog.Int64}, Rows: n, Int64s: keys})
		write(1, log, &binlog.Column{Descriptor: binlog.Descriptor{Type: binlog.Int64}, Rows: n, Int64s: stamps})
	}
	return files
}

// cpu returns the process's CPU time in seconds. Other load on the machine affects it less than the wall clock.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// peak returns the peak memory of the process in bytes since the last reset, from /proc (proc_pid_clear_refs(5)).
func peak(b *testing.B, reset bool) int64 {
	b.Helper()
	if reset {
		runtime.GC()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib << 10
}
