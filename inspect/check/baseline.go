package check

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Baseline is a list of accepted findings. Its file has one JSON object per line. Empty lines and lines that
// start with # are ignored:
//
//	# Known since the load test.
//	{"check":"index-flat-large","object":"collections/default/docs","until":"2027-01-31","note":"rebuilt in January"}
//
// The object has a name as in "kitescope get": resource/id, resource/name, or the name that stays the same
// where ids change: collections/DATABASE/NAME, partitions/DATABASE/COLLECTION/NAME,
// indexes/DATABASE/COLLECTION/NAME, replicas/DATABASE/COLLECTION/RESOURCE GROUP, nodes/ROLE@HOST:PORT. A
// segment stays accepted if compaction replaces it with another one.
type Baseline struct{ Entries []Entry }

// Entry accepts one finding.
type Entry struct {
	Check  string `json:"check"`
	Object string `json:"object"`
	// Until is the last day, in UTC, on which the finding is accepted: "2027-01-31". "" means forever.
	Until string `json:"until,omitempty"`
	Note  string `json:"note,omitempty"`
}

// StaleEntry is an entry that no longer accepts any finding, with the reason.
type StaleEntry struct {
	Entry
	Reason string
}

// maxBaseline is the maximum size of a baseline file in bytes. A larger file is not a baseline.
const maxBaseline = 16 << 20

// ReadBaseline reads a baseline file. An unknown key is an error because an entry with a misspelt "until"
// would accept forever.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBaseline+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBaseline {
		return nil, fmt.Errorf("larger than %d MiB: not a baseline", maxBaseline>>20)
	}
	b := &Baseline{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		b.Entries = append(b.Entries, e)
	}
	return b, nil
}

func parseEntry(line []byte) (e Entry, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more than one JSON object")
	}
	if e.Check == "" || e.Object == "" {
		return e, errors.New(`"check" and "object" are required`)
	}
	if e.Until != "" {
		if _, err := time.Parse(time.DateOnly, e.Until); err != nil {
			return e, fmt.Errorf(`"until" must be a day such as 2027-01-31, not %q`, e.Until)
		}
	}
	return e, nil
}

const baselineHead = `# Findings that are accepted: kitescope diagnose --baseline FILE
# One JSON object a line; "until" (the last day, UTC) and "note" may be added.
`

// Write writes the file.
func (b *Baseline) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(baselineHead); err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, entry := range b.Entries {
		if err := e.Encode(entry); err != nil {
			return err
		}
	}
	return out.Flush()
}

// NewBaseline returns a baseline that accepts all findings of a report. Entries of an older baseline that
// accept one of them keep their note and day. Entries of checks that could not see everything are kept as
// well.
func NewBaseline(r *Report, old *Baseline) *Baseline {
	b := &Baseline{}
	kept := make(map[*Finding]bool)
	findings := slices.Concat(r.Findings, r.Accepted)
	named := r.byKey(findings)
	for _, e := range old.entries() {
		known, _ := r.Judged(e.Check)
		keep := !known
		if e.expired(r.Now) == "" {
			for _, f := range named[e.key()] {
				keep, kept[f] = true, true
			}
		}
		if keep {
			b.Entries = append(b.Entries, e)
		}
	}
	for _, f := range findings {
		if !kept[f] {
			b.Entries = append(b.Entries, Entry{Check: f.Check, Object: ObjectKey(r.Cluster, f.Object)})
		}
	}
	slices.SortStableFunc(b.Entries, func(x, y Entry) int {
		return cmp.Or(strings.Compare(x.Check, y.Check), strings.Compare(x.Object, y.Object))
	})
	b.Entries = slices.Compact(b.Entries)
	return b
}

func (b *Baseline) entries() []Entry {
	if b == nil {
		return nil
	}
	return b.Entries
}

// Apply returns a copy of a report without the accepted findings, and the entries that no longer accept
// anything. all lists the existing checks. r is not changed.
func (b *Baseline) Apply(r *Report, all []*Check) (*Report, []StaleEntry) {
	next := *r
	next.Findings, next.Accepted = nil, slices.Clone(r.Accepted)
	named := r.byKey(r.Findings)
	accepted := make(map[*Finding]bool)
	var stale []StaleEntry
	for _, e := range b.entries() {
		late, about := e.expired(r.Now), named[e.key()]
		known, _ := r.Judged(e.Check)
		switch {
		case len(about) > 0 && late != "":
			stale = append(stale, StaleEntry{e, late})
		case len(about) == 0 && known:
			stale = append(stale, StaleEntry{e, "no longer found"})
		case !known && Find(all, e.Check) == nil && !r.ran(e.Check):
			stale = append(stale, StaleEntry{e, "no such check"})
		}
		if late == "" {
			for _, f := range about {
				accepted[f] = true
			}
		}
	}
	for _, f := range r.Findings {
		if accepted[f] {
			next.Accepted = append(next.Accepted, f)
		} else {
			next.Findings = append(next.Findings, f)
		}
	}
	next.rank()
	return &next, stale
}

// key returns the entry's key in the result of byKey.
func (e *Entry) key() string { return e.Check + " " + e.Object }

// byKey returns findings by check and object. A finding has one key for each name that an entry may use for
// its object.
func (r *Report) byKey(findings []*Finding) map[string][]*Finding {
	named := make(map[string][]*Finding, 2*len(findings))
	for _, f := range findings {
		keys := identities(r.Cluster, f.Object)
		if name := f.Object.Resource + "/" + f.Object.Name; f.Object.Name != "" && !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
		for _, key := range keys {
			named[f.Check+" "+key] = append(named[f.Check+" "+key], f)
		}
	}
	return named
}

func (r *Report) ran(id string) bool {
	return slices.ContainsFunc(r.Results, func(x *Result) bool { return x.Check.ID == id })
}

// expired returns the reason why an entry has expired, or "".
func (e *Entry) expired(now time.Time) string {
	if e.Until == "" {
		return ""
	}
	last, err := time.Parse(time.DateOnly, e.Until)
	if err != nil || now.Before(last.AddDate(0, 0, 1)) {
		return ""
	}
	return "was accepted until " + e.Until
}
