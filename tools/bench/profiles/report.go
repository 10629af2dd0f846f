package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/tools/bench/document"
	"kitescope/tools/bench/measure"
)

// report holds all results.
type report struct {
	machine, size string
	jobs          []measured
	pulls         []measure.Cost
	screen        figures
}

// pullBar is the bar of pulling, in addition to the window. frameBar is the bar of a frame.
const (
	pullBar  = time.Second
	frameBar = 10 * time.Millisecond
)

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench-profile` on %s.\n", r.machine)
	if len(r.jobs) > 0 {
		b.WriteString("CPU time is the median of the rounds, memory the largest peak. `pprof` is the binary that " +
			"`go tool pprof` starts,\n" +
			"without the time of the go command.\n\n")
		b.WriteString("| command | CPU | peak RSS | peer | CPU | peak RSS | ratio | target | |\n" +
			"|---|---|---|---|---|---|---|---|---|\n")
		for i := range r.jobs {
			r.jobs[i].write(&b)
		}
	}
	if len(r.pulls) > 0 || len(r.screen) > 0 {
		b.WriteString("\n| operation | wall time | target | |\n|---|---|---|---|\n")
	}
	if len(r.pulls) > 0 {
		beyond := measure.Median(measure.Walls(r.pulls)) - window
		fmt.Fprintf(&b, "| `profile pull` from %d processes at once, beyond the window of %s | %s | %s | %s |\n",
			processes, window, seconds(beyond), seconds(pullBar), document.Verdict(beyond <= pullBar))
	}
	for _, name := range slices.Sorted(maps.Keys(r.screen)) {
		_, key, _ := strings.Cut(name, "/")
		took := time.Duration(median(r.screen[name]))
		fmt.Fprintf(&b,
			"| terminal flame graph, 100,000 frames, 200x60: a key (%s) and the frame | %.1f ms | %.1f ms | %s |\n",
			key, millis(took), millis(frameBar), document.Verdict(took <= frameBar))
	}
	return b.String()
}

func (m *measured) write(b *strings.Builder) {
	ours, theirs := cpu(m.our), cpu(m.their)
	peak := measure.PeakRSS(m.our)
	var bars []string
	ok := true
	if m.faster > 0 {
		ok = float64(ours)*m.faster <= float64(theirs)
		if m.faster == 1 {
			bars = append(bars, "no slower")
		} else {
			bars = append(bars, fmt.Sprintf("%gx", m.faster))
		}
	}
	if m.memory > 0 {
		ok = ok && float64(peak) <= m.memory*1e6
		bars = append(bars, fmt.Sprintf("%g MB", m.memory))
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %.1fx | %s | %s |\n",
		m.what, seconds(ours), megabytes(peak), m.theirName, seconds(theirs), megabytes(measure.PeakRSS(m.their)),
		float64(theirs)/float64(max(ours, 1)), strings.Join(bars, ", "), document.Verdict(ok))
}

// seconds formats a duration for people, in milliseconds if it is below a second.
func seconds(d time.Duration) string {
	if d < time.Second && d > -time.Second {
		return fmt.Sprintf("%.1f ms", millis(d))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
