package log

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/expr"
)

// maxLine is the maximum length of a line, in bytes: 10,000 vectors of 1,024 dimensions take 100 MB as text.
const maxLine = 256 << 20

// checkEvery is the number of lines or rows between checks of the context in long loops.
const checkEvery = 256

// Kinds of counted lines.
const (
	kindBroken    = "broken lines, skipped"
	kindDims      = "lines with vectors of other dimensions, skipped"
	kindNonFinite = "lines with a value that is not a finite number, skipped"
	kindCut       = "files that could not be read to the end"
)

// maxAccessLine is the maximum length of a line of an access log, whose longest field is an expression.
const maxAccessLine = 16 << 20

// scanLines returns a scanner for lines with at most the given number of bytes.
func scanLines(in io.Reader, limit int) *bufio.Scanner {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 1<<20), limit)
	return s
}

// lineReader reads the lines of a .jsonl and collects the requests.
type lineReader struct {
	o     Options
	tally tally
	extra names // unknown keys

	vectors   rowList
	firstLine int // of the first vector
	requests  []Request
	moments   []moment
	truth     [][]engine.Key
	anyTruth  bool
	skipped   int // because of Options.Skip
	line      int
}

// readLines reads requests until the end or the limit.
func (r *lineReader) readLines(ctx context.Context, in io.Reader) error {
	s := scanLines(in, maxLine)
	for s.Scan() && s.Err() == nil { // a truncated stream ends with a partial line
		if r.line++; r.line%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.oneLine(s.Bytes()); err != nil {
			err = fmt.Errorf("line %d: %w", r.line, err)
			if r.o.Strict {
				return err
			}
			r.tally.add(kindOf(err), err.Error())
		}
		if r.o.Limit > 0 && len(r.requests) >= r.o.Limit {
			return nil
		}
	}
	if err := s.Err(); err != nil {
		err = fmt.Errorf("line %d: the file breaks off: %w", r.line+1, err)
		if r.o.Strict || len(r.requests) == 0 || ctx.Err() != nil {
			return err
		}
		r.tally.add(kindCut, err.Error())
	}
	return nil
}

// kindOf returns the kind under which the tally counts a line that was skipped because of err.
func kindOf(err error) string {
	var dims *dimsError
	switch {
	case errors.Is(err, errNonFinite):
		return kindNonFinite
	case errors.As(err, &dims):
		return kindDims
	}
	return kindBroken
}

// oneLine decodes a request from a line, unless it is empty.
func (r *lineReader) oneLine(line []byte) error {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 {
		return nil
	}
	var p requestLine
	if err := p.read(line, r.extra); err != nil {
		return err
	}
	if r.skipped < r.o.Skip {
		r.skipped++
		return nil
	}
	before := r.vectors
	first, truth := len(r.vectors.rows), len(r.truth)
	if err := r.takeVectors(&p); err != nil {
		r.vectors = before
		return err
	}
	req := p.request()
	req.First = first
	if n := len(r.vectors.rows) - first; n > 0 {
		req.NQ = n
		if err := r.takeTruth(&p, n); err != nil {
			r.vectors, r.truth = before, r.truth[:truth]
			return err
		}
	}
	if n := len(r.requests); n > 0 && r.requests[n-1].Collection == req.Collection {
		req.Collection = r.requests[n-1].Collection // share one copy of the name
	}
	r.moments = append(r.moments, p.moment)
	r.requests = append(r.requests, req)
	return nil
}

// log returns a Log of all requests.
func (r *lineReader) log() (*Log, error) {
	if len(r.requests) == 0 {
		return nil, r.emptyError()
	}
	vectors, err := r.vectors.join()
	if err != nil {
		return nil, err
	}
	l := &Log{Format: "jsonl", Vectors: vectors, Requests: r.requests}
	if vectors != nil {
		l.free = vectors.Release
	}
	if r.anyTruth {
		l.Truth = r.truth
	}
	l.Notes = r.tally.notes()
	if len(r.extra) > 0 {
		l.Notes = append(l.Notes, "ignored unknown keys: "+r.extra.list())
	}
	l.Notes = append(l.Notes, l.setTimes(r.moments)...)
	return l, nil
}

// emptyError returns the reason why there are no requests.
func (r *lineReader) emptyError() error {
	notes := r.tally.notes()
	switch {
	case r.line == 0:
		return errors.New("the file is empty")
	case len(notes) > 0:
		return fmt.Errorf("no line of %d is a selected request: %s", r.line, notes[0])
	case r.skipped > 0:
		return fmt.Errorf("all %d requests were skipped as requested", r.skipped)
	default:
		return fmt.Errorf("%d lines without a request", r.line)
	}
}

// rowList collects vectors until their number is known.
type rowList struct {
	element dist.Element
	dim     int // 0 for sparse vectors
	rows    [][]byte
}

// join copies all rows to a contiguous block; it returns nil if there are none.
func (g *rowList) join() (*engine.Vectors, error) {
	if len(g.rows) == 0 {
		return nil, nil
	}
	if g.element == dist.Sparse {
		return engine.JoinSparse(g.rows)
	}
	all, err := engine.NewVectors(g.element, g.dim, len(g.rows))
	if err != nil {
		return nil, err
	}
	for i, row := range g.rows {
		copy(all.Row(i), row)
	}
	return all, nil
}

// requestLine is a decoded line of a .jsonl.
type requestLine struct {
	vector, vectors, truth, filter, times json.RawMessage
	element, collection                   string
	nq, k                                 *uint32
	params                                map[string]json.RawMessage
	values                                map[string]any // of the {names} in the filter
	atSeconds, tookMS                     *float64
	failed                                bool

	searchParams engine.SearchParams
	restrict     *Filter
	moment       moment
}

// field returns the destination of a key's value, or nil for an unknown key.
func (p *requestLine) field(key string) any {
	switch key {
	case "vector":
		return &p.vector
	case "vectors":
		return &p.vectors
	case "element":
		return &p.element
	case "nq":
		return &p.nq
	case "k":
		return &p.k
	case "params":
		return &p.params
	case "filter":
		return &p.filter
	case "filter_params":
		return &p.values
	case "timestamp":
		return &p.times
	case "at_seconds":
		return &p.atSeconds
	case "collection":
		return &p.collection
	case "truth":
		return &p.truth
	case "took_ms":
		return &p.tookMS
	case "failed":
		return &p.failed
	}
	return nil
}

// read decodes a line. It counts unknown keys in extra.
func (p *requestLine) read(line []byte, extra names) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return plainJSON(err, line)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := p.field(key)
		if at == nil {
			extra.add(key)
			continue
		}
		d := json.NewDecoder(bytes.NewReader(object[key]))
		d.UseNumber()
		if err := d.Decode(at); err != nil {
			return fmt.Errorf("%s: unexpected value %s", key, excerpt(object[key]))
		}
	}
	isNull := func(value json.RawMessage) bool { return value == nil || string(value) == "null" }
	if isNull(p.truth) {
		p.truth = nil
	}
	if !isNull(p.vector) && !isNull(p.vectors) {
		return errors.New("expected vector or vectors, found both")
	}
	if isNull(p.vector) && isNull(p.vectors) && p.nq == nil {
		return errors.New("vector: expected a list of numbers, found none")
	}
	for key, value := range p.params {
		f := engine.SearchParamOf(key)
		if f == nil {
			extra.add("params." + key)
			continue
		}
		x, err := searchParam(f, value)
		if err != nil {
			return fmt.Errorf("params: %s: %w", key, err)
		}
		f.Set(&p.searchParams, x)
	}
	if err := p.readTime(); err != nil {
		return err
	}
	for name, n := range map[string]*uint32{"k": p.k, "nq": p.nq} {
		if n != nil && *n > math.MaxInt32 {
			return fmt.Errorf("%s: expected at most %d, found %d", name, math.MaxInt32, *n)
		}
	}
	if !isNull(p.filter) {
		if err := p.readFilter(); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	return nil
}

// plainJSON adds the position to an error of encoding/json. Python writes NaN, Infinity and -Infinity, which are not
// valid JSON.
func plainJSON(err error, text []byte) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if at := int(syntax.Offset) - 1; at >= 0 && at < len(text) && (text[at] == 'N' || text[at] == 'I') {
			return errNonFinite
		}
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return errors.New("expected an object {...}")
}

func (p *requestLine) request() Request {
	r := Request{SearchParams: p.searchParams, Filter: p.restrict, Collection: p.collection, Failed: p.failed}
	if p.k != nil {
		r.K = int(*p.k)
	}
	if p.nq != nil {
		r.NQ = int(*p.nq)
	}
	if p.tookMS != nil {
		r.Took = time.Duration(math.Round(*p.tookMS * 1e6))
	}
	return r
}

// searchParam parses a search parameter: a number of 0 or more.
func searchParam(f *engine.SearchParam, value []byte) (float64, error) {
	x, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64)
	if err != nil || !(x >= 0) || x > math.MaxInt32 || f.IsInt() && x != math.Trunc(x) {
		return 0, fmt.Errorf("expected a number of 0 or more, found %s", excerpt(value))
	}
	return float64(float32(x)), nil
}

// dimsError is the error of a vector whose dimension differs from the first vector's.
type dimsError struct{ vector, found, want, line int }

func (e *dimsError) Error() string {
	from := "as requested"
	if e.line > 0 {
		from = fmt.Sprintf("as in line %d", e.line)
	}
	return fmt.Sprintf("vector %d has %d dimensions, expected %d %s", e.vector, e.found, e.want, from)
}

// takeVectors appends the vectors of a line.
func (r *lineReader) takeVectors(p *requestLine) error {
	list := []json.RawMessage{p.vector}
	switch {
	case p.vectors != nil:
		if err := json.Unmarshal(p.vectors, &list); err != nil || len(list) == 0 {
			return fmt.Errorf("vectors: expected a list of vectors, found %s", excerpt(p.vectors))
		}
	case p.vector == nil && len(r.vectors.rows) > 0:
		return errors.New("vector: expected a list of numbers, found none; the lines before have one")
	case p.vector == nil:
		return nil
	}
	if len(r.requests) > 0 && len(r.vectors.rows) == 0 {
		return errors.New("unexpected vector: the lines before have none")
	}
	element, err := r.elementOf(p, list[0])
	if err != nil {
		return err
	}
	for i, value := range list {
		row, dim, err := parseVector(value, element)
		if err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
		g := &r.vectors
		switch {
		case len(g.rows) == 0 && r.o.Dim > 0 && element != dist.Sparse && dim != r.o.Dim:
			return &dimsError{i, dim, r.o.Dim, 0}
		case len(g.rows) == 0:
			g.dim, g.element, r.firstLine = dim, element, r.line
		case element != g.element:
			return fmt.Errorf("expected vectors of %s as in line %d, found %s", elementName(g.element), r.firstLine,
				elementName(element))
		case dim != g.dim:
			return &dimsError{i, dim, g.dim, r.firstLine}
		}
		g.rows = append(g.rows, row)
	}
	return nil
}

// elementOf returns the element type of a line's vectors.
func (r *lineReader) elementOf(p *requestLine, vector []byte) (dist.Element, error) {
	element, err := parseElement(p.element)
	if err != nil {
		return 0, err
	}
	sparse := len(vector) > 0 && vector[0] == '{'
	if sparse && p.element == "" {
		element = dist.Sparse
	}
	if want := r.o.Element; want != nil {
		if (p.element != "" || sparse) && element != *want {
			return 0, fmt.Errorf("expected vectors of %s, found %s", elementName(*want), elementName(element))
		}
		element = *want
	}
	return element, nil
}

// parseVector decodes a vector as a row. The dimension is 0 for sparse vectors.
func parseVector(value []byte, e dist.Element) (row []byte, dim int, err error) {
	if e == dist.Sparse {
		row, err = sparseRow(value)
		return row, 0, err
	}
	if e == dist.Bit && len(value) > 0 && value[0] == '"' {
		var text string
		if err = json.Unmarshal(value, &text); err == nil {
			row, err = base64.StdEncoding.DecodeString(text)
		}
		if err != nil || len(row) == 0 {
			return nil, 0, fmt.Errorf("expected bits in base64, found %s", excerpt(value))
		}
		return row, 8 * len(row), nil
	}
	values, err := numbers(value)
	if err != nil {
		return nil, 0, err
	}
	if dim = len(values); e == dist.Bit {
		dim *= 8
	}
	row = make([]byte, e.Bytes(dim))
	for j, x := range values {
		switch {
		case e == dist.Bit && x == float32(byte(x)):
			row[j] = byte(x)
		case e == dist.Bit:
			return nil, 0, fmt.Errorf("value %d: expected a byte from 0 to 255, found %g", j, x)
		case !setValue(row, e, j, x) && e == dist.Int8:
			return nil, 0, fmt.Errorf("value %d: expected a whole number from -128 to 127, found %g", j, x)
		}
	}
	if !finite(row, e) { // a value is too large for the element type
		return nil, 0, errNonFinite
	}
	return row, dim, nil
}

// numbers parses a list of numbers that encoding/json has validated. It is faster than encoding/json, and treats
// null, which pandas writes for NaN, as not finite.
func numbers(value []byte) ([]float32, error) {
	if len(value) < 2 || value[0] != '[' {
		return nil, fmt.Errorf("expected a list of numbers, found %s", excerpt(value))
	}
	value = bytes.TrimSpace(value[1 : len(value)-1])
	if len(value) == 0 {
		return nil, errors.New("expected numbers, found an empty list")
	}
	list := make([]float32, 0, bytes.Count(value, []byte{','})+1)
	for text := range bytes.SplitSeq(value, []byte{','}) {
		text = bytes.TrimSpace(text)
		x, err := strconv.ParseFloat(string(text), 32)
		if string(text) == "null" || math.IsInf(x, 0) {
			return nil, errNonFinite
		}
		if err != nil {
			return nil, fmt.Errorf("expected a number, found %s", excerpt(text))
		}
		list = append(list, float32(x))
	}
	return list, nil
}

// keys parses a list of primary keys.
func keys(value []byte) ([]engine.Key, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("expected a list of ids, found %s", excerpt(value))
	}
	out := make([]engine.Key, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case string:
			out[i] = engine.TextKey(v)
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return nil, fmt.Errorf("id %d: expected a whole number or text, found %s", i, printable(v.String()))
			}
			out[i] = engine.NumberKey(n)
		default:
			return nil, fmt.Errorf("id %d: expected a whole number or text", i)
		}
	}
	return out, nil
}

// readFilter decodes an expression of Milvus, a list of keys, or a list in {"in": ...} or {"not_in": ...}.
func (p *requestLine) readFilter() (err error) {
	f := &Filter{}
	switch p.filter[0] {
	case '"':
		if err := json.Unmarshal(p.filter, &f.Expr); err != nil || f.Expr == "" {
			return err
		}
		if f.Expr, err = fillNames(f.Expr, p.values); err != nil {
			return err
		}
	case '[':
		f.Keys, err = keys(p.filter)
	default:
		var object map[string]json.RawMessage
		if err := json.Unmarshal(p.filter, &object); err != nil || len(object) != 1 ||
			object["in"] == nil && object["not_in"] == nil {
			return fmt.Errorf(`expected an expression, a list of ids, {"in": [...]} or {"not_in": [...]}, found %s`,
				excerpt(p.filter))
		}
		list := object["in"]
		if f.Exclude = list == nil; f.Exclude {
			list = object["not_in"]
		}
		f.Keys, err = keys(list)
	}
	p.restrict = f
	return err
}

// takeTruth appends the true keys of a request's vectors: one list for vector, a list of lists for vectors.
func (r *lineReader) takeTruth(p *requestLine, nq int) error {
	lists := make([]json.RawMessage, nq)
	switch {
	case p.truth == nil:
	case p.vectors == nil:
		lists[0] = p.truth
	default:
		if err := json.Unmarshal(p.truth, &lists); err != nil || len(lists) != nq {
			return fmt.Errorf("truth: expected a list for each of %d vectors, found %d", nq, len(lists))
		}
	}
	r.anyTruth = r.anyTruth || p.truth != nil
	for _, value := range lists {
		var list []engine.Key
		if value != nil {
			var err error
			if list, err = keys(value); err != nil {
				return fmt.Errorf("truth: %w", err)
			}
		}
		r.truth = append(r.truth, list)
	}
	return nil
}

// fillNames replaces the {names} of an expression by the values of the request.
func fillNames(text string, all map[string]any) (string, error) {
	if all == nil {
		return text, nil
	}
	values := make(map[string]expr.Value, len(all))
	for name, v := range all {
		value, err := paramValue(v, 0)
		if err != nil {
			return "", fmt.Errorf("filter_params: %s: %w", printable(name), err)
		}
		values[name] = value
	}
	return expr.Fill(text, values)
}

// paramValue converts a JSON value to a constant. Lists may be nested at most as deep as in an expression.
func paramValue(v any, depth int) (expr.Value, error) {
	switch v := v.(type) {
	case bool:
		return expr.Value{Kind: expr.Bool, Bool: v}, nil
	case string:
		return expr.Value{Kind: expr.Text, Text: v}, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return expr.Value{Kind: expr.Int, Int: n}, nil
		}
		f, err := v.Float64()
		if err != nil {
			return expr.Value{}, fmt.Errorf("%s does not fit in a double", printable(v.String()))
		}
		return expr.Value{Kind: expr.Float, Float: f}, nil
	case []any:
		const deepest = 8
		list := expr.Value{Kind: expr.List, List: make([]expr.Value, 0, len(v))}
		for _, e := range v {
			if depth >= deepest {
				return list, errors.New("nested lists, which no expression has")
			}
			value, err := paramValue(e, depth+1)
			if err != nil {
				return list, err
			}
			list.List = append(list.List, value)
		}
		return list, nil
	}
	return expr.Value{}, fmt.Errorf("expected a number, a string, a boolean or a list of these, found %s",
		printable(fmt.Sprint(v)))
}

// moment is an absolute time, or a time relative to an unknown origin.
type moment struct {
	at       int64 // nanoseconds, since 1970 if absolute
	absolute bool
	known    bool
}

// maxSeconds limits relative times in seconds. Below it, a float64 represents nanoseconds.
const maxSeconds = 9e6

// readTime decodes the time of a request: RFC 3339, Unix time in seconds (milliseconds above 1e11), or seconds since
// the start of the log.
func (p *requestLine) readTime() error {
	for name, x := range map[string]*float64{"at_seconds": p.atSeconds, "took_ms": p.tookMS} {
		if x != nil && !(*x >= 0 && *x <= maxSeconds) {
			return fmt.Errorf("%s: expected a number from 0 to %g, found %g", name, maxSeconds, *x)
		}
	}
	if p.atSeconds != nil {
		p.moment = moment{at: int64(math.Round(*p.atSeconds * 1e9)), known: true}
	}
	if p.times == nil || string(p.times) == "null" {
		return nil
	}
	var t time.Time
	var text string
	x, err := strconv.ParseFloat(string(p.times), 64)
	switch {
	case err == nil && x >= 1e11:
		t = time.UnixMicro(int64(min(x, 1e16) * 1e3))
	case err == nil && x >= 0:
		t = time.UnixMicro(int64(x * 1e6))
	case json.Unmarshal(p.times, &text) == nil:
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			t, err = time.Parse(time.DateTime, text)
		}
	}
	if err == nil {
		p.moment, err = absolute(t)
	}
	if err != nil {
		return fmt.Errorf("timestamp: expected a time such as 2026-01-31T12:00:00Z or unix seconds, found %s",
			excerpt(p.times))
	}
	return nil
}

// absolute returns an absolute time. It returns an error outside of the years 1970 to 2200, where differences could
// overflow.
func absolute(t time.Time) (moment, error) {
	if y := t.UTC().Year(); y < 1970 || y > 2200 {
		return moment{}, fmt.Errorf("expected a time from 1970 to 2200, found the year %d", y)
	}
	return moment{at: t.UnixNano(), absolute: true, known: true}, nil
}

// excerpt returns the start of a value for a message.
func excerpt(value []byte) string {
	if len(value) > 40 {
		return fmt.Sprintf("%q...", value[:40])
	}
	return fmt.Sprintf("%q", value)
}
