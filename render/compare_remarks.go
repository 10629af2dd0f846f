package render

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/profile/bench"
	"kitescope/words"
)

// oneRun is what a single measurement is worth.
const oneRun = "one run a side proves nothing"

// remark is what more there is to say of a metric, without what the head says of all.
func (t *comparisonTable) remark(l *bench.Line) string {
	text := Harmless(l.Remark)
	if OneRunEach(t.c) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "one pair proves nothing: "), oneRun+": ")
	}
	return text
}

// remarks stand below a table that has no room for them. Those that differ in their numbers only are one.
func (t *comparisonTable) remarks() (lines []sheetLine) {
	var order []string
	of, alike := map[string][]*bench.Line{}, map[string][]remarkWords{}
	for _, l := range t.lines {
		if l.Remark == "" {
			continue
		}
		words := remarkWords(strings.Fields(t.remark(l)))
		shape := words.shape()
		if of[shape] == nil {
			order = append(order, shape)
		}
		of[shape], alike[shape] = append(of[shape], l), append(alike[shape], words)
	}
	for _, shape := range order {
		whose := "all: "
		if len(of[shape]) < len(t.lines) {
			whose = words.FirstOf(t.namesOf(of[shape]), 3, "; ") + ": "
		} else if len(t.lines) == 1 {
			whose = ""
		}
		lines = append(lines, sheetLine{text: whose + spanned(alike[shape])})
	}
	return lines
}

// remarkWords are the words of a remark.
type remarkWords []string

// shape is the remark without its numbers.
func (r remarkWords) shape() string {
	words := slices.Clone(r)
	for i, w := range words {
		if _, err := strconv.ParseFloat(w, 64); err == nil {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// spanned writes remarks of one shape as one: "needs at least 37 to 340 pairs to see 1 %".
func spanned(list []remarkWords) string {
	words := slices.Clone(list[0])
	for i := range words {
		least, most := words[i], words[i]
		for _, r := range list[1:] {
			x, err := strconv.ParseFloat(r[i], 64)
			if err != nil {
				break
			}
			if low, _ := strconv.ParseFloat(least, 64); x < low {
				least = r[i]
			}
			if high, _ := strconv.ParseFloat(most, 64); x > high {
				most = r[i]
			}
		}
		if least != most {
			words[i] = least + " to " + most
		}
	}
	return strings.Join(words, " ")
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
