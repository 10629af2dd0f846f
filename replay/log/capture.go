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
	"time"

	"kitescope/internal/hints"
)

// CaptureOptions are how an access log is read.
type CaptureOptions struct {
	// Name is what the log is called.
	Name string
	// Formats are tried before those that Milvus has by default; they are written as proxy.accessLog.formatters has them:
	// text with $time_now, $method_name and so on.
	Formats []string
	// Methods count as searches, besides Search and HybridSearch and the paths of HTTP that search.
	Methods []string
	// Collection keeps the searches of one; "database.collection" of one in another database than the default. Lines that do
	// not name one are kept.
	Collection string
	// From and Until keep what came from one time to (before) the other; zero is no limit.
	From, Until time.Time
	// Limit keeps so many searches at most, the earliest in the files; 0 is no limit.
	Limit int
	// Strict makes an error of the first line that is of none of the formats.
	Strict bool
}

// What is counted of the lines of an access log.
const (
	kindNoAccess = "lines in no known access log format, skipped"
	kindWindow   = "searches outside the requested time range, skipped"
)

// maxRecord bounds what a line with line breaks in its error message is put together to. 2.3 and 2.4 write them as they
// are; later versions escape them.
const (
	maxRecord      = 64 << 10
	maxRecordLines = 32
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
	if o.Name == "" {
		o.Name = strings.Join(paths, ", ")
	}
	return c.log(o.Name)
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
	marks             []timeMark
	held              held
	bytes             int64 // of the files before this one
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
	if err := c.records(ctx, name, in, raw); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil { // what the digest has not seen yet
		return fmt.Errorf("read %s: %w", name, plain(err))
	}
	c.bytes += raw.n
	return nil
}

// records puts lines together to records. A record has one line, unless an error's message has line breaks.
func (c *capture) records(ctx context.Context, name string, in io.Reader, raw *counted) error {
	br := bufio.NewReaderSize(in, 1<<20)
	var long []byte
	p := pending{capture: c, name: name}
	for number := 1; ; number++ {
		if number%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, overlong, err := nextLine(br, &long)
		if err != nil {
			if e := p.giveUp(); e != nil {
				return e
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err = fmt.Errorf("read %s: line %d: the file breaks off: %w", name, number, err)
			if c.o.Strict || len(c.requests) == 0 {
				return err
			}
			c.tally.add(kindCut, err.Error())
			return nil
		}
		if e := p.line(number, strings.TrimRight(string(line), "\r"), overlong); e != nil {
			return e
		}
		if e := c.held.over(c.bytes+raw.n, len(c.requests)); e != nil {
			return hints.Errorf(overHint, "read %s: line %d: %w", name, number, e)
		}
	}
}

// pending is a record that is not complete yet.
type pending struct {
	*capture
	name   string
	text   string
	number int // of its first line
	lines  int
}

func (p *pending) line(number int, line string, overlong bool) error {
	if strings.TrimSpace(line) == "" && p.lines == 0 {
		return nil
	}
	p.capture.lines++
	if overlong {
		line = line[:min(len(line), 100)]
	}
	if p.capture.record(line) {
		return p.giveUp()
	}
	if p.lines > 0 && !p.begins(line) {
		if len(p.text)+len(line) < maxRecord && p.lines < maxRecordLines {
			p.text, p.lines = p.text+"\n"+line, p.lines+1
			if p.capture.record(p.text) {
				p.lines = 0
			}
			return nil
		}
	}
	if err := p.giveUp(); err != nil {
		return err
	}
	p.text, p.number, p.lines = line, number, 1
	if !p.begins(line) {
		return p.giveUp()
	}
	return nil
}

// begins reports whether a line may be the first of a record.
func (p *pending) begins(line string) bool {
	for i := range p.formats {
		first := p.formats[i].literals[0]
		if strings.HasPrefix(line, first) && (first != "[" || len(line) > 1 && line[1] >= '0' && line[1] <= '9') {
			return true
		}
	}
	return false
}

// giveUp counts a record that never became one. What it says is not repeated: nobody knows what is in it.
func (p *pending) giveUp() error {
	if p.lines == 0 {
		return nil
	}
	p.lines = 0
	where := fmt.Sprintf("line %d", p.number)
	if p.name != "" {
		where = fmt.Sprintf("%s line %d", p.name, p.number)
	}
	if p.o.Strict {
		return fmt.Errorf("read %s: expected a line in an access log format", where)
	}
	p.tally.add(kindNoAccess, where)
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
	if !isSearch(method) && !slices.Contains(c.o.Methods, method) {
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
	if r.start.known && (!c.o.From.IsZero() && r.start.at < c.o.From.UnixNano() || !c.o.Until.IsZero() && r.start.at >= c.o.Until.UnixNano()) {
		c.tally.add(kindWindow, "")
		return
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
		c.held.bytes += int64(len(name))
	}
	r.Collection = name
	c.marks = append(c.marks, r.mark(r.start))
	c.requests = append(c.requests, r.Request)
	c.held.add(&r.Request, 0, nil)
}
