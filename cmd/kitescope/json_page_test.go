package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// keyPage is a page with tables of keys. It has a section for each kind of document and for each object that
// several documents share.
type keyPage struct {
	lines    []string
	sections map[string]*keySection
}

// keySection is a heading with its rows. Its documents may also have all keys of the sections listed in all.
type keySection struct {
	name     string
	rows     []*keyRow
	all      []string
	missing  []string // keys without a row
	last     int      // line number of the last row, or of the heading
	hasTable bool
}

// keyRow is a row of a table, with the columns `key`, type and meaning.
type keyRow struct {
	path, kind, meaning string
	ref                 string // the section with the keys of the value
	line                int
	external            bool // written by another test
	seen                map[string]bool
}

var (
	keyHeading = regexp.MustCompile(`^##+ (.+)$`)
	keyLine    = regexp.MustCompile("^\\| `([A-Za-z_0-9.\\[\\]]+)` \\| ([^|]*) \\| (.*) ?\\|$")
	keyRef     = regexp.MustCompile(`\[([A-Za-z]+)\]\(#[a-z]+\)`)
	keyAll     = regexp.MustCompile(`Also all keys of \[([A-Za-z]+)\]`)
)

func parseKeyPage(text string) *keyPage {
	p := &keyPage{lines: strings.Split(text, "\n"), sections: map[string]*keySection{}}
	s, made := &keySection{}, false
	for i, line := range p.lines {
		if m := keyHeading.FindStringSubmatch(line); m != nil {
			s = &keySection{name: m[1], last: i}
			p.sections[m[1]] = s
		}
		for _, m := range keyAll.FindAllStringSubmatch(line, -1) {
			s.all = append(s.all, m[1])
		}
		if strings.HasPrefix(line, "<!-- ") {
			made = !strings.HasPrefix(line, "<!-- /")
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		row := &keyRow{
			path: m[1], kind: strings.TrimSpace(m[2]), meaning: strings.TrimSpace(m[3]), line: i, external: made,
			seen: map[string]bool{},
		}
		if ref := keyRef.FindStringSubmatch(row.kind); ref != nil {
			row.ref = ref[1]
		}
		s.rows, s.last, s.hasTable = append(s.rows, row), i, true
	}
	return p
}

// walk compares an object with the rows of section s. It adds keys without a row to the missing keys of blame.
func (p *keyPage) walk(s, blame *keySection, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			p.record(s, blame, strings.TrimPrefix(path+"."+key, "."), x)
		}
	case []any:
		below := path + "[]"
		if path == "" { // a list of documents
			below = ""
		}
		for _, x := range v {
			if _, is := x.(map[string]any); is {
				p.walk(s, blame, below, x)
			}
		}
	}
}

// record finds the row of a key in the section or in one that it includes, and records the type of the value. An
// object without a row needs rows for its keys.
func (p *keyPage) record(s, blame *keySection, path string, value any) {
	of := p.find(s, path, 0)
	if of == nil {
		if list, is := value.([]any); (isObject(value) || is && len(list) == 0) && p.hasBelow(s, path, 0) {
			p.walk(s, blame, path, value)
		} else {
			blame.missing = append(blame.missing, path)
		}
		return
	}
	of.seen[kindOf(value)] = true
	if !slices.Contains([]string{"map", "pairs", "findings"}, of.kind) && isObject(value) {
		p.walk(s, blame, path, value)
	}
}

// find returns the row of a path, or nil. The row is in the section itself, in a section that it includes, or in
// the section that the row of an object refers to.
func (p *keyPage) find(s *keySection, path string, depth int) *keyRow {
	if s == nil || depth > 12 {
		return nil
	}
	for _, r := range s.rows {
		if r.path == path {
			return r
		}
	}
	for _, r := range s.rows {
		if r.ref == "" {
			continue
		}
		for _, below := range []string{r.path + ".", r.path + "[]."} {
			if rest, is := strings.CutPrefix(path, below); is {
				if row := p.find(p.sections[r.ref], rest, depth+1); row != nil {
					return row
				}
			}
		}
	}
	for _, name := range p.includes(s) {
		if row := p.find(p.sections[name], path, depth+1); row != nil {
			return row
		}
	}
	return nil
}

// includes returns the sections that a section includes. Every section except Document includes Document.
func (p *keyPage) includes(s *keySection) []string {
	if s.name == "Document" {
		return nil
	}
	return append(slices.Clone(s.all), "Document")
}

// hasBelow reports whether a row exists below a path.
func (p *keyPage) hasBelow(s *keySection, path string, depth int) bool {
	if s == nil || depth > 12 {
		return false
	}
	for _, r := range s.rows {
		for _, mark := range []string{".", "[]"} {
			if strings.HasPrefix(r.path, path+mark) {
				return true
			}
			for _, below := range []string{r.path + ".", r.path + "[]."} {
				if rest, is := strings.CutPrefix(path, below); is && r.ref != "" &&
					p.hasBelow(p.sections[r.ref], rest, depth+1) {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(p.includes(s), func(name string) bool {
		return p.hasBelow(p.sections[name], path, depth+1)
	})
}

// isObject reports whether a value is an object or a list with objects.
func isObject(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return true
	case []any:
		return slices.ContainsFunc(v, isObject)
	}
	return false
}

// kindOf returns the type of a value as written in the page, or "" if an empty value does not determine it.
func kindOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "object"
	case []any:
		if len(v) == 0 {
			return ""
		}
		return strings.TrimSuffix("list of "+kindOf(v[0])+"s", "ss")
	case bool:
		return "bool"
	case json.Number:
		return "number"
	default:
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(value)); err == nil {
			return "time"
		}
		if value == "" {
			return ""
		}
		return "string"
	}
}

// typeOf returns the type of a row, derived from all values seen.
func (r *keyRow) typeOf() string {
	kinds := []string{}
	for k := range r.seen {
		if k != "" && (k != "time" || !r.seen["string"]) {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	switch {
	case r.external:
		return r.kind
	case r.ref != "" && (r.seen["list of objects"] || strings.HasPrefix(r.kind, "list of") && !r.seen["object"]):
		return "list of [" + r.ref + "](#" + strings.ToLower(r.ref) + ")"
	case r.ref != "":
		return "[" + r.ref + "](#" + strings.ToLower(r.ref) + ")"
	case r.kind == "map":
		return r.kind
	case len(kinds) == 0 && r.kind != "":
		return r.kind
	case len(kinds) == 0:
		return "string"
	}
	return strings.Join(kinds, " or ")
}

// faults returns the errors of the page: keys without a row, rows without a key, rows without a meaning, and
// wrong types.
func (p *keyPage) faults() (all []string) {
	for _, s := range p.sections {
		for _, path := range slices.Compact(slices.Sorted(slices.Values(s.missing))) {
			all = append(all, fmt.Sprintf("%s: %s is written and has no row", s.name, path))
		}
		for _, r := range s.rows {
			switch {
			case r.external:
			case len(r.seen) == 0:
				all = append(all, fmt.Sprintf("%s: %s has a row, and no document has it", s.name, r.path))
			case r.meaning == "":
				all = append(all, fmt.Sprintf("%s: %s has no meaning", s.name, r.path))
			case r.typeOf() != r.kind:
				all = append(all, fmt.Sprintf("%s: %s is of type %s, not %s", s.name, r.path, r.typeOf(), r.kind))
			}
		}
	}
	slices.Sort(all)
	return all
}

// markSeen marks a row as seen if the code writes its name. It returns false if the row does not exist or was
// already found in a document.
func (p *keyPage) markSeen(section, path string, written []writtenKey) bool {
	s := p.sections[section]
	if s == nil {
		return false
	}
	at := slices.IndexFunc(s.rows, func(r *keyRow) bool { return r.path == path && len(r.seen) == 0 })
	name := path[strings.LastIndexByte(path, '.')+1:]
	if at < 0 || !slices.ContainsFunc(written, func(k writtenKey) bool { return k.name == name }) {
		return false
	}
	s.rows[at].seen[""] = true
	return true
}

// names reports whether a row or a text of the page names the key.
func (p *keyPage) names(key string) bool {
	for _, s := range p.sections {
		for _, r := range s.rows {
			if slices.Contains(strings.Split(strings.ReplaceAll(r.path, "[]", ""), "."), key) {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.lines, func(line string) bool { return strings.Contains(line, "`"+key+"`") })
}

// updated returns the page with types filled in, missing rows added, and rows without a key removed.
func (p *keyPage) updated() string {
	gone, added := map[int]bool{}, map[int][]string{}
	for _, s := range p.sections {
		for _, r := range s.rows {
			if r.external {
				continue
			}
			gone[r.line] = len(r.seen) == 0
			p.lines[r.line] = fmt.Sprintf("| `%s` | %s | %s |", r.path, r.typeOf(), r.meaning)
		}
		missing := slices.Compact(slices.Sorted(slices.Values(s.missing)))
		if len(missing) > 0 && !s.hasTable {
			added[s.last] = append(added[s.last], "", "| key | type | meaning |", "|---|---|---|")
		}
		for _, path := range missing {
			added[s.last] = append(added[s.last], fmt.Sprintf("| `%s` | | |", path))
		}
	}
	var b strings.Builder
	for i, line := range p.lines {
		if !gone[i] {
			b.WriteString(line + "\n")
		}
		for _, row := range added[i] {
			b.WriteString(row + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
