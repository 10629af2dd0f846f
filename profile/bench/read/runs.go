package read

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// runsVersion is the version of the format of WriteRuns. A key may be added without a new version, unless it
// changes the meaning of the format.
const runsVersion = 1

// runsHeader is the first line of a Set.
type runsHeader struct {
	Version int      `json:"kitescope_runs"`
	Name    string   `json:"name,omitempty"`
	Format  string   `json:"format,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// runsLine is the line of a run.
type runsLine struct {
	Run    string      `json:"run"`
	Pair   string      `json:"pair,omitempty"`
	Failed string      `json:"failed,omitempty"`
	Values []runsValue `json:"values,omitempty"`
}

type runsValue struct {
	Of          string   `json:"of,omitempty"`
	Name        string   `json:"name"`
	Unit        string   `json:"unit,omitempty"`
	Concurrency int      `json:"concurrency,omitempty"`
	Better      string   `json:"better,omitempty"`
	Load        string   `json:"load,omitempty"`
	X           *float64 `json:"value"`
}

// kitescopeRuns reads the output of WriteRuns. It consists of JSON lines: a header for each Set, followed by a line for
// each run.
//
//	{"kitescope_runs":1,"name":"before","format":"trial"}
//	{"run":"1","pair":"1","values":[{"name":"QPS","unit":"1/s","better":"higher","value":1234.5}]}
//	{"run":"2","pair":"2","failed":"exit status 1"}
//
// A finished run is an appended line, and a file with an incomplete last line loses only that line. Several headers in
// one file are several sides. "better" is "lower", "higher" or "neither", or missing if unknown. "concurrency" is the
// number of clients. Units are those of bench.Metric, but any other known unit is converted: {"unit":"ms"}.
func kitescopeRuns() format {
	return format{
		Format: Format{"kitescope runs", "output of pgo trial: each line is a run, with its pair"},
		sniff: func(d *doc) bool {
			line, _, _ := strings.Cut(strings.TrimLeft(d.head, " \t\r\n"), "\n")
			return strings.HasPrefix(line, "{") && strings.Contains(line, `"kitescope_runs"`)
		},
		read: readRuns,
	}
}

// WriteRuns writes a Set as JSON lines that Open and From can read. It returns an error if a value is not finite.
func WriteRuns(w io.Writer, s *bench.Set) error {
	buffered := bufio.NewWriter(w)
	if err := writeLine(buffered, runsHeader{
		Version: runsVersion, Name: s.Name, Format: s.Format, Notes: s.Notes,
	}); err != nil {
		return err
	}
	for i := range s.Runs {
		if err := WriteRun(buffered, &s.Runs[i]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// WriteRun writes the line of a run, to append to a file begun by WriteRuns.
func WriteRun(w io.Writer, r *bench.Run) error {
	line := runsLine{Run: r.Name, Pair: r.Pair, Failed: r.Failed}
	for _, v := range r.Values {
		if math.IsNaN(v.X) || math.IsInf(v.X, 0) {
			return fmt.Errorf("write run %s: %s is %v", r.Name, v.String(), v.X)
		}
		line.Values = append(line.Values, runsValue{
			Of: v.Benchmark, Name: v.Name, Unit: v.Unit, Concurrency: v.Concurrency, Better: directionName(v.Better),
			Load: v.Load, X: &v.X,
		})
	}
	return writeLine(w, line)
}

func writeLine(w io.Writer, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func directionName(d bench.Direction) string {
	switch d {
	case bench.LowerIsBetter:
		return "lower"
	case bench.HigherIsBetter:
		return "higher"
	case bench.Neither:
		return "neither"
	case bench.Unknown:
	}
	return ""
}

// parseDirection parses a direction. Any other word is bench.Unknown.
func parseDirection(word string) bench.Direction {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "lower", "less":
		return bench.LowerIsBetter
	case "higher", "more":
		return bench.HigherIsBetter
	case "neither":
		return bench.Neither
	}
	return bench.Unknown
}

func readRuns(d *doc) ([]*bench.Set, error) {
	var sheets []*sheet
	for n, text := range d.lines() {
		if strings.TrimSpace(text) == "" {
			continue
		}
		var line struct {
			runsHeader
			runsLine
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			if bytes.HasSuffix(d.data, []byte("\n")) || !bytes.HasSuffix(d.data, []byte(text)) {
				return nil, malformedLine(n, "is not a run: %v", err)
			}
			d.skip("the last line is cut off", fmt.Sprintf("line %d", n))
			continue
		}
		switch {
		case line.Version > runsVersion:
			return nil, hints.Errorf("read it with the version of kitescope that wrote it, or a newer one",
				"version %d of the format is unknown", line.Version)
		case line.Version > 0:
			s := newSheet(d)
			s.set.Name, s.set.Format, s.set.Notes = clean(line.Name), clean(line.Format), cleanAll(line.Notes)
			sheets = append(sheets, s)
			if len(sheets) > maxNotes {
				return nil, fmt.Errorf("it has more than %d sides", maxNotes)
			}
			continue
		case len(sheets) == 0:
			return nil, malformedLine(n, "is before the header")
		}
		s := sheets[len(sheets)-1]
		if line.addTo(s, n); s.err != nil {
			return nil, s.err
		}
	}
	var sets []*bench.Set
	for _, s := range sheets {
		sets = append(sets, s.set)
	}
	return sets, nil
}

func cleanAll(notes []string) []string {
	var all []string
	for _, n := range notes[:min(len(notes), maxNotes)] {
		all = append(all, clean(n))
	}
	return all
}

func (l *runsLine) addTo(s *sheet, n int) {
	if l.Run == "" && l.Failed == "" && len(l.Values) == 0 {
		s.err = malformedLine(n, "is not a run")
		return
	}
	if _, taken := s.runs[clean(l.Run)]; taken && l.Run != "" {
		s.d.skip("a run with a duplicate name was left out", fmt.Sprintf("line %d: %s", n, l.Run))
		return
	}
	at := s.begin(clean(l.Run))
	if at < 0 {
		return
	}
	r := &s.set.Runs[at]
	r.Pair, r.Failed = clean(l.Pair), clean(l.Failed)
	if r.Failed != "" {
		return // failed runs have no values
	}
	for _, v := range l.Values {
		if v.X == nil {
			s.d.skip("a figure without a value was left out", fmt.Sprintf("line %d: %s", n, v.Name))
			continue
		}
		s.load = clean(v.Load)
		s.add(at, bench.Metric{Benchmark: v.Of, Name: v.Name, Unit: v.Unit, Concurrency: max(v.Concurrency, 0)}, *v.X,
			parseDirection(v.Better))
	}
}
