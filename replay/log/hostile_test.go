package log

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func nested(n int, open, end string) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }

// TestHostileLines checks that a hostile line is skipped and named, or read as written, in time and memory
// proportional to its length, and that the lines around it are read.
func TestHostileLines(t *testing.T) {
	const good = `{"vector":[1,2],"k":3}` + "\n"
	for name, test := range map[string]struct {
		line, want string // part of the notes
		kept       bool
	}{
		"lists in a vector":  {`{"vector":` + nested(1_000_000, "[", "]") + `}`, "exceeded max depth", false},
		"lists without ends": {`{"x":` + strings.Repeat("[", 1_000_000), "exceeded max depth", false},
		"objects in objects": {
			`{"x":` + nested(500_000, `{"a":`, "}") + `,"vector":[1,2]}`, "exceeded max depth", false,
		},
		"text without ends": {`{"x":` + strings.Repeat(`["`, 1_000_000) + `}`, "", false},
		"NaN":               {`{"vector":[NaN,2]}`, "not a finite number, skipped: 1 (line 2", false},
		"1e400":             {`{"vector":[1e400,2]}`, "not a finite number, skipped: 1 (line 2", false},
		"1e39":              {`{"vector":[1e39,2]}`, "not a finite number, skipped: 1 (line 2", false},
		"long number":       {`{"vector":[` + strings.Repeat("9", 1_000_000) + `,2]}`, "not a finite number", false},
		"long fraction":     {`{"vector":[0.` + strings.Repeat("9", 1_000_000) + `,2]}`, "", true},
		"more dimensions":   {`{"vector":[1,2,3]}`, "3 dimensions, expected 2 as in line 1", false},
		"commas":            {`{"vector":[` + strings.Repeat(",", 1_000_000) + `]}`, "invalid character ','", false},
		"commas for ids": {
			`{"vector":[1,2],"filter":[` + strings.Repeat(",", 8_000_000) + `]}`, "invalid character ','", false,
		},
		"k -1":   {`{"vector":[1,2],"k":-1}`, "k: unexpected value", false},
		"k 2^31": {`{"vector":[1,2],"k":2147483648}`, "k: expected at most 2147483647", false},
		"k 1e9":  {`{"vector":[1,2],"k":1e9}`, "k: unexpected value", false},
		"k of 1 MB": {
			`{"vector":[1,2],"k":` + strings.Repeat("9", 1_000_000) + `}`, "k: unexpected value", false,
		},
		"nq -1":       {`{"nq":-1}`, "nq: unexpected value", false},
		"time 1e400":  {`{"vector":[1,2],"timestamp":1e400}`, "timestamp: expected a time", false},
		"seconds NaN": {`{"vector":[1,2],"at_seconds":NaN}`, "not a finite number", false},
		"no UTF-8":    {"{\"vector\":[1,2],\"collection\":\"a\xff\xc0\"}", "", true},
		"what terminals obey": {
			"{\"vector\":[1,2],\"element\":\"a\x1b]0;x\a\u202e\u2028\"}", "invalid character", false,
		},
		"direction marks": {"{\"vector\":[1,2],\"a\u202eb\u2028\":1}", `"a\u202eb\u2028" 1`, true},
		"a key of 8 MB":   {`{"vector":[1,2],"` + strings.Repeat("k", 8<<20) + `":1}`, "kkk... 1", true},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "q.jsonl", []byte(good+test.line+"\n"+good))
			start := time.Now()
			l := mustOpen(t, path, Options{})
			if took := time.Since(start); took > 10*time.Second { // a tenth of a second on an idle machine
				t.Errorf("%d bytes took %s", len(test.line), took)
			}
			want := map[bool]int{false: 2, true: 3}[test.kept]
			notes := strings.Join(l.Notes, "\n")
			if len(l.Requests) != want || !strings.Contains(notes, test.want) ||
				test.want == "" && !test.kept && notes == "" {
				t.Errorf("%d requests, want %d; notes %.500q, want %q", len(l.Requests), want, notes, test.want)
			}
			for _, note := range l.Notes {
				if len(note) > 2000 || !utf8.ValidString(note) ||
					strings.ContainsFunc(note, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%d bytes: %.300q", len(note), note)
				}
			}
		})
	}
}

// TestNamesTruncated checks that names limits the number of names and their length.
func TestNamesTruncated(t *testing.T) {
	n := names{}
	for i := range 3 * maxNames {
		n.add(strings.Repeat("k", 100*maxName) + string(rune('a'+i%26)))
		n.add(strings.Repeat("k", i%maxName) + string(rune('a'+i/maxName)))
	}
	for name := range n {
		if len(name) > maxName {
			t.Fatalf("a name of %d bytes", len(name))
		}
	}
	if len(n) > maxNames+1 {
		t.Errorf("%d names", len(n))
	}
}
