package log

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// CaptureOptions selects how to read access logs.
type CaptureOptions struct {
	// Formats are tried before the defaults of Milvus. They are written as in proxy.accessLog.formatters: text with
	// $time_now, $method_name etc.
	Formats []string
	// Collection selects the searches of a collection; "database.collection" if it is not in the default database.
	// Lines that name no collection are kept.
	Collection string
	// Limit is the maximum number of searches, the first ones in the files; 0 means no limit.
	Limit int
	// Strict returns an error for the first line that has an unknown format.
	Strict bool
}

// Kinds of counted lines of an access log.
const (
	kindNoAccess = "lines in no known access log format, skipped"
	kindOther    = "requests of other collections, skipped"
	kindUnnamed  = "requests without a collection, kept"
)

// CaptureFiles reads access logs of Milvus proxies (2.3 and later), plain or compressed by gzip or zstd. It returns
// their searches: times, durations, failures and, if the log's format has them, the number of vectors, the
// collection and the parameters. NQ 0 means unknown. The log has no vectors; Combine adds some. Filters cannot be
// replayed from an expression alone, so the notes have the number of searches with a filter, and the methods that
// are not searches.
//
// The files are one log: rotated files of one proxy, or files of several proxies, in any order. The digest covers
// all files in the order of paths.
func CaptureFiles(ctx context.Context, paths []string, o CaptureOptions) (*Log, *Shape, error) {
	c, err := newCapture(o)
	if err != nil {
		return nil, nil, err
	}
	if err := c.files(ctx, paths); err != nil {
		return nil, nil, err
	}
	return c.log(strings.Join(paths, ", "))
}

type capture struct {
	o CaptureOptions
	// handle processes a request. It must not keep the fields of the line.
	handle  func(*accessFields, *accessRequest)
	formats []accessFormat
	sum     hash.Hash
	tally   tally

	methods, statuses names
	others            names // methods that are not searches
	collections       map[string]string
	requests          []Request
	moments           []moment
	lines             int
	exprs, hybrids    int
	fields            accessFields
}

func newCapture(o CaptureOptions) (*capture, error) {
	c := &capture{
		o: o, sum: sha256.New(), methods: names{}, statuses: names{}, others: names{}, collections: map[string]string{},
	}
	c.handle = c.take
	for _, format := range append(slices.Clone(o.Formats), accessFormats()...) {
		f, err := compileFormat(format)
		if err != nil {
			return nil, &hints.Error{Err: err, Advice: "write it as in proxy.accessLog.formatters.base.format"}
		}
		c.formats = append(c.formats, f)
	}
	return c, nil
}

// files reads one file after another.
func (c *capture) files(ctx context.Context, paths []string) error {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, withoutPath(err))
		}
		err = c.read(ctx, path, f)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads one file.
func (c *capture) read(ctx context.Context, name string, r io.Reader) error {
	name = cmp.Or(name, "access log")
	head := bufio.NewReaderSize(&countingReader{r: io.TeeReader(r, c.sum), ctx: ctx}, 1<<16)
	start, err := head.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	raw := &countingReader{r: head, ctx: ctx}
	in, done, err := decompress(raw, sniff(start))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer done()
	if err := c.records(ctx, name, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil { // the rest of the file, for the digest
		return fmt.Errorf("read %s: %w", name, withoutPath(err))
	}
	return nil
}

// records reads lines. Milvus 2.3 and 2.4 write error messages with unescaped line breaks: such lines are counted
// and skipped.
func (c *capture) records(ctx context.Context, name string, in io.Reader) error {
	s := scanLines(in, maxAccessLine)
	number := 0
	for s.Scan() {
		if number++; number%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := strings.TrimRight(s.Text(), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		c.lines++
		if c.record(line) {
			continue
		}
		where := fmt.Sprintf("%s line %d", name, number)
		if c.o.Strict {
			return fmt.Errorf("read %s: expected a line in an access log format", where)
		}
		c.tally.add(kindNoAccess, where)
	}
	if err := s.Err(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = fmt.Errorf("read %s: line %d: the file breaks off: %w", name, number+1, err)
		if c.o.Strict || len(c.requests) == 0 {
			return err
		}
		c.tally.add(kindCut, err.Error())
	}
	return nil
}

// record parses a line, and reports whether it has a known format.
func (c *capture) record(text string) bool {
	for i := range c.formats {
		if !c.formats[i].match(text, &c.fields) {
			continue
		}
		r, err := c.fields.request()
		if err != nil {
			continue
		}
		c.handle(&c.fields, &r)
		return true
	}
	return false
}

func (c *capture) take(_ *accessFields, r *accessRequest) {
	method := methodName(r.method)
	c.methods.add(strings.Clone(method)) // do not keep the memory of the line
	c.statuses.add(strings.Clone(r.statusName()))
	if !isSearch(method) {
		c.others.add(strings.Clone(method))
		return
	}
	switch {
	case c.o.Collection != "" && r.Collection != "" && r.Collection != c.o.Collection:
		c.tally.add(kindOther, "")
		return
	case c.o.Collection != "" && r.Collection == "":
		c.tally.add(kindUnnamed, "")
	}
	if c.o.Limit > 0 && len(c.requests) >= c.o.Limit {
		c.tally.add("searches beyond the limit, skipped", "")
		return
	}
	if r.expr {
		c.exprs++
	}
	if r.hybrid {
		c.hybrids++
	}
	name, ok := c.collections[r.Collection]
	if !ok {
		name = strings.Clone(r.Collection)
		c.collections[name] = name
	}
	r.Collection = name
	c.moments = append(c.moments, r.start)
	c.requests = append(c.requests, r.Request)
}
