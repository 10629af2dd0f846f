package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/tools/e2e/lab"
)

// report returns the generated part of docs/evidence/latency.md: the bars, a row for each situation, then the
// shortcomings.
func report(results []*Result, all []*Situation) string {
	by := map[string]*Situation{}
	for _, s := range all {
		by[s.Name] = s
	}
	var b strings.Builder
	b.WriteString(bars(results, by))
	b.WriteString("\n| situation | client: mean, p99, requests | sum of phases | unexplained | largest phase | " +
		"first line of `why` | fix: mean after | gain: measured, predicted |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		if s := by[r.Name]; s != nil {
			b.WriteString(row(r, s))
		}
	}
	b.WriteString(loadSummary(results))
	b.WriteString("\nMisses:\n\n")
	b.WriteString(short(results, by))
	return b.String()
}

// loadSummary returns a sentence about the window and the load of the machine, including the cluster's own.
func loadSummary(results []*Result) string {
	var loads []float64
	said := ""
	for _, r := range results {
		if load, err := strconv.ParseFloat(r.Load1, 64); err == nil {
			loads = append(loads, load)
		}
		if r.Window != "" {
			said = "\nkitescope's two scrapes were " + r.Window + " apart. "
		}
	}
	if len(loads) == 0 || said == "" {
		return ""
	}
	said += fmt.Sprintf("The machine's load average over the last minute was %.0f to %.0f when a situation began",
		slices.Min(loads), slices.Max(loads))
	if nice := results[0].Nice; nice != 0 {
		said += fmt.Sprintf("; the cluster had priority over other processes (`-nice %d`)", nice)
	}
	return said + ".\n"
}

func row(r *Result, s *Situation) string {
	if r.Before.Count == 0 {
		return fmt.Sprintf("| %s | the run failed: %s | | | | | %s | |\n", s.What, lab.Clean(r.Broken), s.Cure)
	}
	cells := []string{
		s.What, fmt.Sprintf("%s, %s, %d", ms(r.Before.MeanMS), ms(r.Before.P99MS), r.Before.Count), "-", "-", "-", "-",
		"-", "-",
	}
	if r.Sum != nil {
		cells[2] = fmt.Sprintf("%s (%.0f%% off)", ms(r.Sum.SumMS), 100*r.Sum.RelativeError())
		cells[3] = fmt.Sprintf("%.0f%%", 100*r.Sum.Share())
		cells[4] = fmt.Sprintf("`%s` %s", r.Sum.Largest, ms(r.Sum.LargestMS))
	}
	if r.WhyError == "" {
		cells[5] = lab.Clean(r.whyText())
	}
	if r.After != nil {
		cells[6] = fmt.Sprintf("%s: %s", s.Cure, ms(r.After.MeanMS))
		cells[7] = fmt.Sprintf("%s, %s", ms(r.gain()), r.gainText())
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// tally counts the results for the bars.
type tally struct {
	summed, within, explained, causes, named, healthy, silent int
	off, gains                                                []float64
	gainsWithin                                               int
}

func (t *tally) add(r *Result, s *Situation) {
	if r.Before.Count == 0 {
		return
	}
	if r.Sum != nil {
		t.summed++
		t.off = append(t.off, r.Sum.RelativeError())
		t.within += btoi(r.Sum.RelativeError() <= 0.10)
		t.explained += btoi(r.Sum.Share() <= 0.20)
	}
	if r.WhyError != "" {
		return
	}
	if s.Want.Nothing {
		t.healthy++
		t.silent += btoi(r.Missed == "")
		return
	}
	t.causes++
	t.named += btoi(r.Missed == "")
	if r.After == nil || r.FirstVerdict == nil {
		return
	}
	if off, ok := middleOff(r.FirstVerdict.GainLow, r.FirstVerdict.GainHigh, r.gain(), r.Before.MeanMS); ok {
		t.gains = append(t.gains, off)
		t.gainsWithin += btoi(off <= 0.25)
	}
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

func bars(results []*Result, by map[string]*Situation) string {
	var t tally
	for _, r := range results {
		if s := by[r.Name]; s != nil {
			t.add(r, s)
		}
	}
	var b strings.Builder
	b.WriteString("| criterion | target | result |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| sum of phases, including \"unexplained\", against the client's mean | within 10%% in each | "+
		"%d of %d, median %s off |\n", t.within, t.summed, percent(median(t.off)))
	fmt.Fprintf(&b, "| unexplained | at most 20%% in 10 of 12 | %d of %d |\n", t.explained, t.summed)
	fmt.Fprintf(&b, "| `why` names the cause first | 11 of 12 | %d of %d |\n", t.named, t.causes)
	fmt.Fprintf(&b, "| `why` names no finding first on a healthy cluster | all | %d of %d |\n", t.silent, t.healthy)
	fmt.Fprintf(&b, "| predicted gain (middle of the interval) against the measured gain | within 25%%, median "+
		"within 15%% | %d of %d predictions, median %s off |\n", t.gainsWithin, len(t.gains), percent(median(t.gains)))
	return b.String()
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

// ms formats milliseconds for people.
func ms(x float64) string {
	switch {
	case x < 0:
		return "-" + ms(-x)
	case x < 10:
		return fmt.Sprintf("%.1f ms", x)
	}
	return fmt.Sprintf("%.0f ms", x)
}

func short(results []*Result, by map[string]*Situation) string {
	var b strings.Builder
	for _, r := range results {
		s := by[r.Name]
		if s == nil {
			continue
		}
		tell := func(format string, words ...any) {
			fmt.Fprintf(&b, "- `%s`: %s\n", r.Name, lab.Clean(fmt.Sprintf(format, words...)))
		}
		if r.Broken != "" {
			tell("the run failed: %s", r.Broken)
		}
		if r.Before.Count == 0 {
			continue
		}
		if r.Before.Errors > 0 {
			tell("%d requests failed: %s", r.Before.Errors, r.Before.Error)
		}
		if r.WhyError != "" {
			tell("not queried: %s", r.WhyError)
		}
		if r.Sum != nil && r.Sum.RelativeError() > 0.10 {
			tell("phases add up to %s, the client measured %s", ms(r.Sum.SumMS), ms(r.Sum.ClientMS))
		}
		if r.Sum != nil && r.Sum.Share() > 0.20 {
			tell("%.0f%% is unexplained", 100*r.Sum.Share())
		}
		if r.Missed != "" {
			tell("%s", r.Missed)
		}
		if r.FirstVerdict != nil && r.After != nil {
			if off, ok := middleOff(r.FirstVerdict.GainLow, r.FirstVerdict.GainHigh, r.gain(), r.Before.MeanMS); ok &&
				off > 0.25 {
				how := "within, but wide"
				if outside, _ := gainOff(r.FirstVerdict.GainLow, r.FirstVerdict.GainHigh, r.gain()); math.IsInf(outside,
					1) {
					how = "no gain"
				} else if outside > 0 {
					how = percent(outside) + " outside"
				}
				tell("measured gain %s, predicted %s (%s)", ms(r.gain()), r.gainText(), how)
			}
		}
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}
