package read

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"kitescope/internal/hints"
)

// Limits of input files. Benchmark results are small, so larger files are something else.
const (
	defaultMaxBytes = 64 << 20
	maxRuns         = 10_000
	maxMetrics      = 20_000
	maxValues       = 2_000_000
	maxColumns      = 2000
	maxName         = 300
	maxNotes        = 20
	headSize        = 64 << 10
)

// doc is an input file, with the data that format detection needs.
type doc struct {
	name string
	o    Options
	data []byte // UTF-8, without a byte order mark
	head string // the first headSize bytes of data
	// object holds the values of the keys that identify a format (peekJSON), if the file is a JSON object.
	// element holds those of the first element, if it is an array.
	object, element map[string]json.RawMessage
	jsonErr         error

	oddities []oddity
	values   int
}

// oddity is a kind of skipped input, with its number of occurrences.
type oddity struct {
	what, first string
	n           int
}

// load reads a stream to its end. It returns an error if the stream exceeds the size limit.
func load(name string, r io.Reader, o Options) (*doc, error) {
	most := o.MaxBytes
	if most <= 0 {
		most = defaultMaxBytes
	}
	data, err := readAll(r, most)
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		data, err = gunzip(data, most)
	}
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d := &doc{name: name, o: o, data: data, head: string(data[:min(len(data), headSize)])}
	d.peekJSON()
	return d, nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil,
			hints.Errorf("is it a result? a log of every request is not one", "it is larger than %d MiB", limit>>20)
	}
	return data, nil
}

func gunzip(data []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if data, err = readAll(z, limit); err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return data, nil
}

// refuse returns the error for a file that no reader accepts.
func (d *doc) refuse() error {
	switch {
	case len(bytes.TrimSpace(d.data)) == 0:
		return hints.Errorf("did the benchmark run? its output has to be saved to the file", "%w: it is empty",
			errNoResult)
	case bytes.HasPrefix(d.data, []byte("\x89HDF\r\n\x1a\n")):
		// https://docs.hdfgroup.org/hdf5/v1_14/_f_m_t3.html: the signature of the superblock.
		return hints.Errorf("of ann-benchmarks, export them first: python data_export.py --output results.csv",
			"%w: it is an HDF5 file", errNoResult)
	case d.binary():
		return hints.Errorf(formatsHint(), "%w: it is not text", errNoResult)
	case d.jsonErr != nil:
		return hints.Errorf("the file is damaged or not complete", "%w: JSON: %w", errNoResult, d.jsonErr)
	}
	for _, f := range foreignResults {
		if hasAny(d.head, f.mark) {
			return hints.Errorf(f.hint, "%w: it is %s", errNoResult, f.what)
		}
	}
	return hints.Errorf(formatsHint(), "%w", errNoResult)
}

// foreignResults lists unsupported outputs that users often try, by a text that occurs only in them.
var foreignResults = []struct{ mark, what, hint string }{
	{
		"Thread calibration:", "the output of wrk2",
		"write a CSV file with a line for each run and the rate that was set: run,qps,p99_ms,target_rate",
	},
	{"Thread Stats   Avg", "the output of wrk", "write a CSV file with a line for each run: run,qps,p99_ms,clients"},
	{
		"| Command | Mean [", "the Markdown table of hyperfine, which has no single runs",
		"export the runs: hyperfine --export-json FILE.json",
	},
	{
		" vs base ", "a table of benchstat, which has no single runs",
		"give the output of go test -bench that the table was made of",
	},
	{
		"old time/op", "a table of benchstat, which has no single runs",
		"give the output of go test -bench that the table was made of",
	},
	{
		`"real_time":`, "JSON of Google Benchmark",
		"write CSV: --benchmark_repetitions=10 --benchmark_format=csv > FILE.csv; compare its cpu_time with --only " +
			"cpu_time",
	},
	{"Mode  Cnt", "the table of JMH, which has no single forks", "write JSON: -rf json -rff FILE.json"},
	{"http_req_duration", "the summary of k6", "write a CSV file with a line for each run: run,qps,p99_ms,clients"},
	{"SQL statistics:", "the output of sysbench", "write a CSV file with a line for each run: run,qps,p99_ms,threads"},
	{
		"Cumulative indexing time of primary shards", "the summary of OpenSearch Benchmark or Rally",
		"give its test_run.json or race.json",
	},
}

// binary reports whether the beginning of the file is not text.
func (d *doc) binary() bool {
	if strings.ContainsRune(d.head, 0) {
		return true
	}
	// The end of the head may cut a character.
	head := d.head
	for i := 0; i < utf8.UTFMax && len(head) > 0 && !utf8.ValidString(head); i++ {
		head = head[:len(head)-1]
	}
	bad := 0
	for _, r := range head {
		if r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\x1b\b", r) {
			bad++
		}
	}
	return bad*50 > len(head)
}

// lines iterates over the lines with their numbers, without line ends.
func (d *doc) lines() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range bytes.Lines(d.data) {
			n++
			if !yield(n, strings.TrimRight(string(line), "\r\n")) {
				return
			}
		}
	}
}

// skip notes that input of a kind was skipped. Only the first place of each kind is kept.
func (d *doc) skip(what, where string) {
	for i := range d.oddities {
		if d.oddities[i].what == what {
			d.oddities[i].n++
			return
		}
	}
	if len(d.oddities) < maxNotes {
		d.oddities = append(d.oddities, oddity{what: what, first: clean(where), n: 1})
	}
}

// malformedLine returns the error for a line that is not a record of its format. The whole file is rejected, because a
// file can begin like a format without being in it.
func malformedLine(line int, format string, args ...any) error {
	return hints.Errorf("the file may have another format, or several files in a row: extract the part in this format",
		"line %d %s", line, fmt.Sprintf(format, args...))
}

// note adds a note about the whole file, once.
func (d *doc) note(what string) { d.skip(what, "") }

// notes returns the oddities as text.
func (d *doc) notes() []string {
	var all []string
	for _, o := range d.oddities {
		text := o.what
		switch {
		case o.first != "" && o.n > 1:
			text = fmt.Sprintf("%s (%d times, first: %s)", o.what, o.n, o.first)
		case o.first != "":
			text = fmt.Sprintf("%s (%s)", o.what, o.first)
		}
		all = append(all, text)
	}
	return all
}

// firstOddity returns the first oddity as a suffix for an error, or "".
func (d *doc) firstOddity() string {
	if all := d.notes(); len(all) > 0 {
		return ": " + all[0]
	}
	return ""
}

// clean turns text of a file into a name: one line, no control characters, at most maxName bytes.
func clean(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if len(s) <= maxName {
		return s
	}
	cut := maxName - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
