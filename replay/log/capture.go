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

// CaptureOptions are how an access log is read.
type CaptureOptions struct {
	// Formats are tried before those that Milvus has by default; they are written as proxy.accessLog.formatters has them:
	// text with $time_now, $method_name and so on.
	Formats []string
	// Collection keeps the searches of one; "database.collection" of one in another database than the default. Lines that do
	// not name one are kept.
	Collection string
	// Limit keeps so many searches at most, the earliest in the files; 0 is no limit.
	Limit int
	// Strict makes an error of the first line that is of none of the formats.
	Strict bool
}

// Kinds of lines of an access log that are counted.
const (
	kindNoAccess = "lines in no known access log format, skipped"
	kindOther    = "requests of other collections, skipped"
	kindNameless = "requests without a collection, kept"
)

// CaptureFiles reads access logs of Milvus proxies (2.3 and later), plain, gzip or zstd, and returns their searches: when they
// came, what they took, whether they failed; and how many vectors, which collection and which parameters, where the
// log's format has that. The log has no vectors (Dress gives it some). NQ 0 is unknown. Filters cannot be replayed of an
// expression alone; how many searches had one is in the notes, as are the methods that are no searches. Logs belong together: the files that one proxy rotated, or those of several proxies, in
// whatever order. The digest is that of all files, in the order in which they are named.
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
	// taken is what becomes of a request; the fields are those of its line, which nothing may keep.
	taken   func(*accessFields, *accessRequest)
	formats []accessFormat
	sum     hash.Hash
	tally   tally

	methods, statuses names
	others            names // methods that are no searches
	collections       map[string]string
	requests          []Request
	moments           []moment
	lines             int
	exprs, hybrids    int
	fields            accessFields
}

func newCapture(o CaptureOptions) (*capture, error) {
	c := &capture{o: o, sum: sha256.New(), methods: names{}, statuses: names{}, others: names{}, collections: map[string]string{}}
	c.taken = c.take
	for _, format := range append(slices.Clone(o.Formats), accessFormats()...) {
		f, err := compileFormat(format)
		if err != nil {
			return nil, &hints.Error{Err: err, Advice: "write it as proxy.accessLog.formatters.base.format has it"}
		}
		c.formats = append(c.formats, f)
	}
	return c, nil
}

// files reads one file after the other.
func (c *capture) files(ctx context.Context, paths []string) error {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, plain(err))
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
	head := bufio.NewReaderSize(&counted{r: io.TeeReader(r, c.sum), ctx: ctx}, 1<<16)
	start, err := head.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", name, plain(err))
	}
	raw := &counted{r: head, ctx: ctx}
	in, done, err := decompressed(raw, sniff(start))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer done()
	if err := c.records(ctx, name, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil { // what the digest has not seen yet
		return fmt.Errorf("read %s: %w", name, plain(err))
	}
	return nil
}

// records reads lines. 2.3 and 2.4 write line breaks in error messages as they are: such lines are counted and skipped.
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

// record makes a request of a record, and reports whether it is one.
func (c *capture) record(text string) bool {
	for i := range c.formats {
		if !c.formats[i].match(text, &c.fields) {
			continue
		}
		r, err := c.fields.request()
		if err != nil {
			continue
		}
		c.taken(&c.fields, &r)
		return true
	}
	return false
}

func (c *capture) take(_ *accessFields, r *accessRequest) {
	method := methodName(r.method)
	c.methods.add(strings.Clone(method)) // what is kept must not keep the line
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
		c.tally.add(kindNameless, "")
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
