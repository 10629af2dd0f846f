// Command history measures the cost of reading the past of a cluster. It writes a Markdown table with each
// cost as a multiple of reading the file once.
//
//  1. It creates an etcd file from a captured cluster and a number of revisions of a busy one, once, in the
//     user's cache (generate.go).
//  2. A process of its own does each reading. The launcher reports its CPU time and memory.
//  3. The floor is reading all changes of the file and nothing else. Readings take turns, so that other load
//     of the machine affects all of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/document"
	"kitescope/tools/bench/measure"
)

// bar is the maximum of the events reading in multiples of the floor, and mostBytes its maximum memory.
const (
	bar       = 1.5
	mostBytes = 300_000_000
)

// readings lists the measured readings, the floor first.
var readings = []struct {
	name, what string
	run        func(ctx context.Context, p *historyFile) error
}{
	{"floor", "reading all changes once", floor},
	{eventsName, "events", events},
	{"pin", "40 pins anywhere", pins},
}

func main() {
	repo := flag.String("repo", "../..", "kitescope's repository")
	revisions := flag.Int("revisions", 1_000_000, "revisions in the file")
	rounds := flag.Int("rounds", 5, "rounds of each reading; medians are reported")
	output := flag.String("o", "", "file whose table, between its markers, is replaced")
	read := flag.String("read", "", "do one reading of -file and print the slowest part")
	file := flag.String("file", "", "the file for -read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if *read != "" {
		err = measureOne(ctx, *read, *file)
	} else {
		err = run(ctx, *repo, *revisions, *rounds, *output)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const eventsName = "history"

func run(ctx context.Context, repo string, revisions, rounds int, output string) error {
	file, err := ensure(ctx, repo, revisions)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "kitescope-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	launcher, err := dataset.Build(ctx, scratch, "cost")
	if err != nil {
		return err
	}
	r := results{costs: make([][]measure.Cost, len(readings)), output: make([]string, len(readings))}
	for range rounds {
		for i := range readings {
			program := measure.Program{Path: self, Args: []string{"-read", readings[i].name, "-file", file}}
			c, err := measure.Runner{Launcher: launcher}.RunToReader(ctx, program, func(said io.Reader) error {
				note, err := io.ReadAll(said)
				r.output[i] = string(note)
				return err
			})
			if err != nil {
				return err
			}
			r.costs[i] = append(r.costs[i], c)
		}
	}
	text := fmt.Sprintf("%d revisions, %d MiB, %s/%s, %d CPUs%s, %s. Medians of %d rounds; the target is %.1fx of "+
		"the floor and %d MB.\n\n%s",
		revisions, info.Size()>>20, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), measure.Load(), runtime.Version(),
		rounds, bar, mostBytes/1_000_000, r.markdown())
	if _, err := io.WriteString(os.Stdout, text); err != nil || output == "" {
		return err
	}
	return document.ReplaceMeasured(output, "bench-history", text)
}

// results holds the costs of each reading, one per round, and its output in the last round.
type results struct {
	costs  [][]measure.Cost
	output []string
}

func median[T int64 | time.Duration](costs []measure.Cost, of func(measure.Cost) T) T {
	list := make([]T, 0, len(costs))
	for _, c := range costs {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func (r *results) markdown() string {
	var t strings.Builder
	t.WriteString("| reading | wall | vs. floor | CPU | vs. floor | memory | verdict |\n" +
		"|---|---:|---:|---:|---:|---:|---|\n")
	wallOf := func(c measure.Cost) time.Duration { return c.Wall }
	cpuOf := func(c measure.Cost) time.Duration { return c.CPU }
	floorWall, floorCPU := median(r.costs[0], wallOf), median(r.costs[0], cpuOf)
	for i, costs := range r.costs {
		wall, cpu := median(costs, wallOf), median(costs, cpuOf)
		bytes := median(costs, func(c measure.Cost) int64 { return c.PeakRSS })
		ofWall, ofCPU := float64(wall)/float64(floorWall), float64(cpu)/float64(floorCPU)
		verdict := ""
		if readings[i].name == eventsName {
			verdict = fmt.Sprintf("wall %s, CPU %s, memory %s", document.Verdict(ofWall <= bar),
				document.Verdict(ofCPU <= bar), document.Verdict(bytes <= mostBytes))
		}
		fmt.Fprintf(&t, "| %s | %.2f s | %.2fx | %.2f s | %.2fx | %d MB | %s |\n",
			readings[i].what, wall.Seconds(), ofWall, cpu.Seconds(), ofCPU, bytes/1_000_000, verdict)
	}
	if notes := strings.TrimSpace(strings.ReplaceAll(strings.Join(r.output, ""), "\n", "; ")); notes != "" {
		fmt.Fprintf(&t, "\n%s.\n", strings.TrimSuffix(notes, ";"))
	}
	return t.String()
}

// historyFile is an open file.
type historyFile struct {
	source.Past
	head   source.Header
	oldest int64
	random *rand.Rand
}

func measureOne(ctx context.Context, name, file string) error {
	src, err := source.Open(ctx, file, source.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	p := &historyFile{random: rand.New(rand.NewPCG(1, 2))}
	if p.Past, err = source.PastOf(src); err != nil {
		return err
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	p.head = snap.Header()
	if p.oldest, err = p.Oldest(ctx, p.head); err != nil {
		return err
	}
	for _, r := range readings {
		if r.name == name {
			return r.run(ctx, p)
		}
	}
	return fmt.Errorf("unknown reading %q", name)
}

func floor(ctx context.Context, p *historyFile) error {
	return p.Changes(ctx, p.head, p.oldest, p.head.Revision, func(int64, []source.Event) error { return nil })
}

func events(ctx context.Context, p *historyFile) error {
	first, err := p.PinAt(ctx, p.head, p.oldest)
	if err != nil {
		return err
	}
	defer first.Close()
	h, err := history.Read(ctx, first, func(ctx context.Context, yield func(int64, []source.Event) error) error {
		return p.Changes(ctx, p.head, p.oldest, p.head.Revision, yield)
	})
	if err == nil {
		fmt.Println(h.Len(), "events")
	}
	return err
}

const pinCount = 40

func (p *historyFile) randomRevision() int64 {
	return p.oldest + p.random.Int64N(p.head.Revision-p.oldest+1)
}

func pins(ctx context.Context, p *historyFile) error {
	return p.each("pin", func(revision int64) error {
		snap, err := p.PinAt(ctx, p.head, revision)
		if err != nil {
			return err
		}
		return snap.Close()
	})
}

// each calls do at 40 random revisions and prints the median and the longest time.
func (p *historyFile) each(what string, do func(revision int64) error) error {
	took := make([]time.Duration, 0, pinCount)
	for range pinCount {
		start := time.Now()
		if err := do(p.randomRevision()); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	_, err := fmt.Printf("%s: median %s, longest %s\n", what, took[pinCount/2].Round(time.Microsecond),
		took[pinCount-1].Round(time.Microsecond))
	return err
}

func cacheFile(revisions int) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "kitescope-bench", fmt.Sprintf("history-r%d-v%d.db", revisions, generatorVersion)), nil
}
