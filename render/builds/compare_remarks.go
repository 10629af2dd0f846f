package builds

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
)

// oneRun is what a single measurement is worth.
const oneRun = "one run a side proves nothing"

// remark is what more there is to say of a metric, without what the head says of all.
func (t *comparisonTable) remark(l *bench.Line) string {
	text := render.Harmless(l.Remark)
	if OneRunEach(t.c) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "one pair proves nothing: "), oneRun+": ")
	}
	return text
}

// remarks stand below a table that has no room for them. Those that differ in their numbers only are one.
func (t *comparisonTable) remarks(rows []*bench.Line) (lines []render.Line) {
	var order []string
	of, alike := map[string][]*bench.Line{}, map[string][]remarkWords{}
	for _, l := range rows {
		if l.Remark == "" {
			continue
		}
		remark := remarkWords(strings.Fields(t.remark(l)))
		shape := remark.shape()
		if of[shape] == nil {
			order = append(order, shape)
		}
		of[shape], alike[shape] = append(of[shape], l), append(alike[shape], remark)
	}
	for _, shape := range order {
		whose := "all: "
		if len(of[shape]) < len(t.lines) {
			whose = words.FirstOf(t.namesOf(of[shape]), 3, "; ") + ": "
		} else if len(t.lines) == 1 {
			whose = ""
		}
		lines = append(lines, render.Line{Text: whose + spanned(alike[shape])})
	}
	return lines
}

// remarkWords are the words of a remark.
type remarkWords []string

// figureIn is the number of a word such as "37" or "1.9%", and what stands behind it.
func figureIn(word string) (x float64, unit string, ok bool) {
	digits, percent := strings.CutSuffix(word, "%")
	if percent {
		unit = "%"
	}
	x, err := strconv.ParseFloat(digits, 64)
	return x, unit, err == nil
}

// shape is the remark without its numbers.
func (r remarkWords) shape() string {
	list := slices.Clone(r)
	for i, w := range list {
		if _, unit, ok := figureIn(w); ok {
			list[i] = "#" + unit
		}
	}
	return strings.Join(list, " ")
}

// spanned writes remarks of one shape as one: "needs at least 37 to 340 pairs to see 1%".
func spanned(list []remarkWords) string {
	one := slices.Clone(list[0])
	for i := range one {
		least, most := one[i], one[i]
		for _, r := range list[1:] {
			x, _, ok := figureIn(r[i])
			if !ok {
				break
			}
			if low, _, _ := figureIn(least); x < low {
				least = r[i]
			}
			if high, _, _ := figureIn(most); x > high {
				most = r[i]
			}
		}
		if least != most {
			one[i] = strings.TrimSuffix(least, "%") + " to " + most
		}
	}
	return strings.Join(one, " ")
}

// namesOf are names of lines in the order of the table, of whole groups the group's.
func (t *comparisonTable) namesOf(list []*bench.Line) (names []string) {
	size := map[lineGroup]int{}
	for _, l := range t.lines {
		size[lineGroup{l.Of, l.Concurrency}]++
	}
	for i := 0; i < len(list); {
		group := lineGroup{list[i].Of, list[i].Concurrency}
		end := i
		for end < len(list) && (lineGroup{list[end].Of, list[end].Concurrency}) == group {
			end++
		}
		name := MetricGroup(&list[i].Metric)
		if name != "" && end-i > 1 && end-i == size[group] {
			names, i = append(names, name), end
			continue
		}
		for ; i < end; i++ {
			names = append(names, MetricText(&list[i].Metric))
		}
	}
	return names
}
