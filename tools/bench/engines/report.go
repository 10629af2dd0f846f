package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"kitescope/tools/bench/document"
)

// row is one line of the table.
type row struct {
	Part   string  `json:"part"` // its name in -only
	What   string  `json:"what"`
	Ours   string  `json:"ours"`
	Their  string  `json:"theirs"`  // empty if there is no peer
	Ratio  spread  `json:"ratio"`   // of the pairs
	Bar    float64 `json:"bar"`     // for the median; 0: no bar
	AtMost bool    `json:"at_most"` // the bar is a maximum
	// Same describes the answers that were equal. Wrong is set if answers differ that must be equal.
	Same  string `json:"same,omitempty"`
	Wrong bool   `json:"wrong"`
	// Void is the reason why the result is invalid, e.g. that two cores were not available.
	Void string `json:"void,omitempty"`
	Pass bool   `json:"pass"`
}

// judge sets Pass.
func (r *row) judge() {
	reached := r.Bar == 0 || r.Ratio.Median >= r.Bar
	if r.AtMost {
		reached = r.Bar == 0 || r.Ratio.Median <= r.Bar
	}
	r.Pass = reached && !r.Wrong && r.Void == ""
}

// report holds the results of a run.
type report struct {
	Machine string      `json:"machine"`
	Peers   string      `json:"peers"`
	Load    [2]string   `json:"load"`   // the load average before and after
	Cores   [2]float64  `json:"cores"`  // cores that two independent threads get, before and after
	Stream  float64     `json:"stream"` // bytes per second that one core reads
	Rounds  int         `json:"rounds"`
	Rows    []row       `json:"rows"`
	Kernels []kernelRow `json:"kernels,omitempty"`
	// Earlier lists the parts that an earlier run measured, EarlierLoad the load averages before and after
	// them.
	Earlier     []string `json:"earlier,omitempty"`
	EarlierLoad []string `json:"earlier_load,omitempty"`
}

func (r *report) add(x row) {
	x.judge()
	r.Rows = append(r.Rows, x)
}

func (r *report) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench-engine` on %s,\nagainst %s.\n", r.Machine, r.Peers)
	fmt.Fprintf(&b, "Load average %s before and %s after; two independent threads did the work of %.2f cores before "+
		"and %.2f after.",
		r.Load[0], r.Load[1], r.Cores[0], r.Cores[1])
	if len(r.Earlier) > 0 {
		least, most := minAndMax(r.EarlierLoad)
		fmt.Fprintf(&b, "\nFrom an earlier run, under load averages of %s to %s: %s.", least, most,
			strings.Join(r.Earlier, ", "))
	}
	if r.Stream > 0 {
		fmt.Fprintf(&b, "\nOne core reads %.1f GB/s from memory.", r.Stream/1e9)
	}
	fmt.Fprintf(&b, "\nMedians of %d pairs; the smallest and largest ratios are in brackets.\n", r.Rounds)
	if len(r.Rows) > 0 {
		b.WriteString("\n| benchmark | kitescope | peer | ratio | target | results | |\n" +
			"|---|---|---|---|---|---|---|\n")
	}
	for i := range r.Rows {
		r.Rows[i].write(&b)
	}
	if len(r.Kernels) > 0 {
		writeKernels(&b, r.Kernels)
	}
	return b.String()
}

func (r *row) write(b *strings.Builder) {
	ratio, bar, verdict := "", "", ""
	if r.Ratio.Median != 0 {
		ratio = fmt.Sprintf("%.2fx", r.Ratio.Median)
		if r.Ratio.Least != r.Ratio.Most {
			ratio += fmt.Sprintf(" (%.2f to %.2f)", r.Ratio.Least, r.Ratio.Most)
		}
	}
	if r.Bar != 0 {
		bar = fmt.Sprintf("≥ %gx", r.Bar)
		if r.AtMost {
			bar = fmt.Sprintf("≤ %gx", r.Bar)
		}
	}
	switch {
	case r.Void != "":
		verdict = "void: " + r.Void
	case r.Bar != 0 || r.Wrong || r.Same != "":
		verdict = document.Verdict(r.Pass)
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.What, r.Ours, r.Their, ratio, bar, r.Same, verdict)
}

// setAgreement records how many answers were equal, and whether any differed.
func (r *row) setAgreement(a agreement) {
	r.Same = fmt.Sprintf("ids %d/%d, bits %d/%d", a.IDs, a.Queries, a.Bits, a.Queries)
	r.Wrong = a.IDs < a.Queries || a.Bits < a.Queries || a.Queries == 0
}

// span formats a duration for people.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
