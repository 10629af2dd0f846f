package prometheus

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page is one scrape of a process, as text of its /metrics.
type page struct {
	at   time.Time
	text []byte
}

// texts returns the pages of the newest and the oldest scrape, in this order, or of the only one. All series of a
// scrape have its time.
func (s *server) texts(all []series) []page {
	first, last := scrapeTimes(all)
	if last.IsZero() {
		return nil
	}
	families := s.families(all)
	pages := []page{{last, write(families, last)}}
	if first.Before(last) {
		pages = append(pages, page{first, write(families, first)})
	}
	return pages
}

// scrapeTimes returns the times of the first and the last scrape of an instance: those at which up is 1, or,
// without up, the first and last times of all series. It ignores series of rules and alerts: they have the
// labels of the instance too, but the times of their evaluation.
func scrapeTimes(all []series) (first, last time.Time) {
	told := slices.ContainsFunc(all, func(x series) bool { return x.Metric["__name__"] == "up" })
	for i := range all {
		name := all[i].Metric["__name__"]
		if told && name != "up" || isRule(name) {
			continue
		}
		for _, x := range all[i].Values {
			if told && x.value != "1" {
				continue
			}
			if first.IsZero() || x.at.Before(first) {
				first = x.at
			}
			if x.at.After(last) {
				last = x.at
			}
		}
	}
	return first, last
}

// isRule reports whether a name belongs to a recording rule or an alert.
func isRule(name string) bool {
	return strings.ContainsRune(name, ':') || strings.HasPrefix(name, "ALERTS")
}

// family is a metric family: the series with one name in the text.
type family struct {
	name, kind string
	lines      []line
}

// line is one of its series.
type line struct {
	text   string // name and labels, up to the value
	set    string // the labels without le or quantile
	part   int    // order within a set: the bounds, then sum and count
	bound  float64
	values []sample
}

// families groups series as in a scrape. It drops the series that Prometheus adds for a scrape.
func (s *server) families(all []series) []*family {
	added, kinds := addedLabels(all), s.kindsOf(all)
	byName := map[string]*family{}
	for i := range all {
		x := &all[i]
		name := x.Metric["__name__"]
		if !plain(name) || isRule(name) || name == "up" || strings.HasPrefix(name, "scrape_") {
			continue
		}
		base, part := name, 0
		for k, suffix := range []string{"_bucket", "_sum", "_count"} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && (kinds[cut] == histogram || kinds[cut] == summary) {
				base, part = cut, k
			}
		}
		f := byName[base]
		if f == nil {
			f = &family{name: base, kind: kindOf(base, kinds)}
			byName[base] = f
		}
		f.lines = append(f.lines, lineOf(x, f.kind, part, added))
	}
	list := slices.SortedFunc(maps.Values(byName), func(a, b *family) int { return strings.Compare(a.name, b.name) })
	for _, f := range list {
		slices.SortFunc(f.lines, func(a, b line) int {
			return cmp.Or(strings.Compare(a.set, b.set), cmp.Compare(a.part, b.part), cmp.Compare(a.bound, b.bound),
				strings.Compare(a.text, b.text))
		})
	}
	return list
}

// Kinds of families that have several series with the same label set.
const (
	histogram = "histogram"
	summary   = "summary"
)

// kindsOf returns the types of families as reported by Prometheus. A series with a bound or a quantile
// determines the type of its family otherwise.
func (s *server) kindsOf(all []series) map[string]string {
	kinds := maps.Clone(s.kinds)
	if kinds == nil {
		kinds = map[string]string{}
	}
	for i := range all {
		name := all[i].Metric["__name__"]
		if base, ok := strings.CutSuffix(name, "_bucket"); ok && all[i].Metric["le"] != "" {
			kinds[base] = histogram
		} else if all[i].Metric["quantile"] != "" {
			kinds[name] = summary
		}
	}
	return kinds
}

// kindOf returns the type of a family, derived from its name if it is not reported.
func kindOf(name string, kinds map[string]string) string {
	switch told := kinds[name]; {
	case told == "counter", told == "gauge", told == histogram, told == summary:
		return told
	case strings.HasSuffix(name, "_total"), strings.HasSuffix(name, "_count"):
		return "counter"
	}
	return "untyped"
}

// addedLabels returns the labels, with values, that Prometheus added to the scraped labels: the labels of a
// series that has no labels of its own.
func addedLabels(all []series) map[string]string {
	added := map[string]string{}
	for i := range all {
		switch m := all[i].Metric; m["__name__"] {
		case "go_goroutines", "process_start_time_seconds", "process_cpu_seconds_total",
			"process_resident_memory_bytes":
			maps.Copy(added, m)
		default:
			added["instance"], added["job"] = m["instance"], m["job"]
		}
	}
	return added
}

// lineOf formats the name and labels of a series, the bound of a bucket last, as Prometheus's clients do.
func lineOf(x *series, kind string, part int, added map[string]string) line {
	special := map[string]string{histogram: "le", summary: "quantile"}[kind]
	l := line{part: part, values: x.Values}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(x.Metric)) {
		v := x.Metric[k]
		if k == "__name__" || k == special || added[k] == v && hasLabel(added, k) {
			continue
		}
		// Prometheus renames a label of the process that conflicts with one that it adds.
		if own, ok := strings.CutPrefix(k, "exported_"); ok && hasLabel(added, own) {
			k = own
		}
		if !plain(k) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(k + `="` + escaper.Replace(v) + `"`)
	}
	l.set = b.String()
	if bound := x.Metric[special]; special != "" && bound != "" {
		l.bound, _ = strconv.ParseFloat(bound, 64)
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(special + `="` + escaper.Replace(bound) + `"`)
	}
	l.text = x.Metric["__name__"]
	if b.Len() > 0 {
		l.text += "{" + b.String() + "}"
	}
	return l
}

// plain reports whether a name needs no quotes. Milvus has no other names.
func plain(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && c != ':' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func hasLabel(labels map[string]string, name string) bool { _, ok := labels[name]; return ok }

// escaper escapes the value of a label.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// write returns the text of a scrape: the values of the series at that time. Series without a value have no
// line.
func write(families []*family, at time.Time) []byte {
	var b []byte
	for _, f := range families {
		begun := false
		for i := range f.lines {
			l := &f.lines[i]
			k, ok := slices.BinarySearchFunc(l.values, at, func(x sample, at time.Time) int { return x.at.Compare(at) })
			if !ok {
				continue
			}
			value, err := strconv.ParseFloat(l.values[k].value, 64)
			if err != nil || math.IsNaN(value) && f.kind != "gauge" {
				continue
			}
			if !begun {
				b = append(b, "# TYPE "+f.name+" "+f.kind+"\n"...)
				begun = true
			}
			b = append(b, l.text...)
			b = append(b, ' ')
			b = append(b, l.values[k].value...)
			b = append(b, '\n')
		}
	}
	return b
}
