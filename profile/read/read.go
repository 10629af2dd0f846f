// Package read opens profiles in the format of any supported tool.
//
// Open reads a file and From reads a stream. Both return a profile.Profile.
//
//  1. The first bytes select the format, never the file name. gzip and zstd are decompressed first.
//  2. pprof files are decoded by profile.Decode. Folded stacks, pt-pmp output, `perf script` text, `perf report`
//     tables, speedscope files and the output of `jfr print --json` are passed sample by sample to a
//     profile.Builder, so memory grows with the number of distinct stacks, not of samples.
//  3. A file is rejected if its beginning or any of its lines is not from a profile, or if another program has to
//     convert it first. The error has a hint with the command to run.
//  4. C++ and Rust names are demangled as `go tool pprof` does.
//
// Oddities that do not stop the reader are counted in Profile.Notes.
package read

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// Options apply to all formats. The zero value selects the defaults.
type Options struct {
	// Limits apply to pprof files. For other formats they bound the resulting profile.
	Limits profile.Limits
	// MaxText is the maximum decompressed size of a compressed text, in bytes; 0 means 16 GiB.
	MaxText int64
	// Mangled disables demangling.
	Mangled bool
}

// defaultText is the default of Options.MaxText. It limits time, not memory.
const defaultText = 16 << 30

// sniffLen is how many leading bytes are used to detect the format.
const sniffLen = 64 << 10

// Open reads a profile from a file.
func Open(ctx context.Context, path string, o Options) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, hints.Errorf("name the files in it, for example with *", "read %s: it is a folder", path)
	}
	return From(ctx, path, f, o)
}

// From reads a profile from a stream. name denotes the stream in errors.
func From(ctx context.Context, name string, r io.Reader, o Options) (*profile.Profile, error) {
	if o.Limits.Size == 0 {
		o.Limits.Size = sizeOf(r)
	}
	p, err := from(ctx, r, &o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !o.Mangled {
		p = demangled(p)
	}
	p.Origin.Name = name
	return p, nil
}

// sizeOf returns the size of r in bytes, or 0 if it is unknown.
func sizeOf(r io.Reader) int64 {
	if sized, ok := r.(interface{ Len() int }); ok {
		return int64(sized.Len())
	}
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

func from(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	packed := bufio.NewReaderSize(r, sniffLen)
	head, err := packed.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 0 {
		return nil, errEmpty
	}
	inner, err := unpackedHead(head)
	if err != nil {
		return nil, err
	}
	format, err := sniff(inner)
	if err != nil {
		return nil, err
	}
	if format == formatPprof && !isZstd(head) {
		return decode(ctx, packed, o)
	}
	limit := o.MaxText
	if limit <= 0 {
		limit = defaultText
	}
	text, done, err := unpack(packed, head, limit)
	if err != nil {
		return nil, err
	}
	defer done()
	switch format {
	case formatFolded:
		return readFolded(ctx, text, o)
	case formatPMP:
		return readPMP(ctx, text, o)
	case formatPerfScript:
		return readPerfScript(ctx, text, o)
	case formatPerfReport:
		return readPerfReport(ctx, text, o)
	case formatSpeedscope:
		return readSpeedscope(ctx, text, o)
	case formatJFR:
		return nil, errJFR
	case formatJFRPrint:
		return readJFRPrint(ctx, text, o)
	default:
		return decode(ctx, text, o)
	}
}

func decode(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	p, err := profile.Decode(ctx, r, o.Limits)
	if err != nil {
		return nil, err
	}
	if kind, ok := p.Overflow(); ok {
		return nil, hints.Errorf("it is damaged, or its program counted wrong: pull it again",
			"the values of %s add up to more than 64 bits can hold", p.Types[kind])
	}
	return p, nil
}

// newBuilder returns a Builder that enforces o.Limits.
func newBuilder(o *Options, types ...profile.ValueType) *profile.Builder {
	b := profile.NewBuilder(types...)
	b.Limit(o.Limits)
	return b
}

var errEmpty = hints.Errorf("pull or write it again: the response had no body, or the disk was full",
	"the file is empty")
