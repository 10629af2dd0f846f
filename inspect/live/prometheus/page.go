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

// page is one scrape of a process, as its /metrics had it.
type page struct {
	at   time.Time
	text []byte
}

// texts makes the pages of the oldest and the newest scrape; one, where there was but one. All series of a scrape have its time.
func (s *server) texts(all []series) []page {
	first, last := scraped(all)
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

// scraped is when an instance was scraped first and last. Prometheus says so in up, which is 1 then. What rules and alerts made of an
// instance's series has its labels, too, and the times of their evaluation.
func scraped(all []series) (first, last time.Time) {
	told := slices.ContainsFunc(all, func(x series) bool { return x.Metric["__name__"] == "up" })
	for i := range all {
		name := all[i].Metric["__name__"]
		if told && name != "up" || ruled(name) {
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

// ruled reports whether a name is one of a recording rule or of an alert.
func ruled(name string) bool {
	return strings.ContainsRune(name, ':') || strings.HasPrefix(name, "ALERTS")
}

// family is what has one name in the text.
type family struct {
	name, kind string
	lines      []line
}

// line is a series of it.
type line struct {
	text   string // name and labels, up to the value
	set    string // the labels without the one that is told by le or quantile
	part   int    // within a set: the bounds in order, then sum and count
	bound  float64
	values []sample
}

// families puts series together as a scrape has them. What Prometheus itself says of a scrape is none of it.
func (s *server) families(all []series) []*family {
	added, kinds := addedLabels(all), s.kindsOf(all)
	byName := map[string]*family{}
	for i := range all {
		x := &all[i]
		name := x.Metric["__name__"]
		if !plain(name) || ruled(name) || name == "up" || strings.HasPrefix(name, "scrape_") {
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
			return cmp.Or(strings.Compare(a.set, b.set), cmp.Compare(a.part, b.part), cmp.Compare(a.bound, b.bound), strings.Compare(a.text, b.text))
		})
	}
	return list
}

// Kinds of families that have several series of one set of labels.
const (
	histogram = "histogram"
	summary   = "summary"
)

// kindsOf are the types of families: as they are told, and where a series has a bound or a quantile, as that says.
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

// kindOf is the type of a family, by its name where nobody tells.
func kindOf(name string, kinds map[string]string) string {
	switch told := kinds[name]; {
	case told == "counter", told == "gauge", told == histogram, told == summary:
		return told
	case strings.HasSuffix(name, "_total"), strings.HasSuffix(name, "_count"):
		return "counter"
	}
	return "untyped"
}

// addedLabels are those that Prometheus put on what it scraped, with their values: those of a series that has none of its own.
func addedLabels(all []series) map[string]string {
	added := map[string]string{}
	for i := range all {
		switch m := all[i].Metric; m["__name__"] {
		case "go_goroutines", "process_start_time_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes":
			maps.Copy(added, m)
		default:
			added["instance"], added["job"] = m["instance"], m["job"]
		}
	}
	return added
}

// lineOf writes a series' name and labels, the bound of a bucket last, as Prometheus's clients do.
func lineOf(x *series, kind string, part int, added map[string]string) line {
	special := map[string]string{histogram: "le", summary: "quantile"}[kind]
	l := line{part: part, values: x.Values}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(x.Metric)) {
		v := x.Metric[k]
		if k == "__name__" || k == special || added[k] == v && hasLabel(added, k) {
			continue
		}
		// A label of the process that Prometheus puts on by itself is kept under another name.
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

// plain reports whether a name needs no quotes; no other is Milvus's.
func plain(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && c != ':' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func hasLabel(labels map[string]string, name string) bool { _, ok := labels[name]; return ok }

// escaper writes the value of a label.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// write is the text of a scrape: what a series had at that time. A series that was not there has no line.
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
