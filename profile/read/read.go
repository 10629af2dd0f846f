// Package read opens profiles of any tool.
//
// What enters is a path or a stream, and Options; what leaves is a profile.Profile.
//
//  1. The first bytes tell the format, never the name; gzip and zstd are looked through.
//  2. pprof files go to profile.Decode. Folded stacks, pt-pmp's, `perf script` text, `perf report` tables,
//     speedscope files and what `jfr print --json` prints are told to a profile.Builder, sample by sample, so
//     that memory grows with distinct stacks and not with samples.
//  3. What is no profile, by its beginning or by any of its lines, or is one of a kind that another program has to convert
//     first, is refused with the command that does so.
//  4. Names of C++ and Rust are demangled as `go tool pprof` does it.
//
// What was odd and did not stop the reading is counted in Profile.Notes.
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

// Options of all formats. The zero Options are the usual ones.
type Options struct {
	// Limits are those of pprof files; of other formats they bound the profile that comes out.
	Limits profile.Limits
	// MaxText is how many bytes a compressed text may unfold to; 0 stands for 16 GiB.
	MaxText int64
	// Mangled leaves names as the linker has them.
	Mangled bool
}

// defaultText bounds what a compressed text may unfold to. It is time that it limits, not memory.
const defaultText = 16 << 30

// sniffed is how much of the beginning is looked at.
const sniffed = 64 << 10

// Open reads the profile of a file.
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

// From reads the profile of a stream; name is what errors call it.
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

// sizeOf is how many bytes a reader holds, 0 if it does not tell.
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
	packed := bufio.NewReaderSize(r, sniffed)
	head, err := packed.Peek(sniffed)
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
	if format == formatPprof && !packedOther(head) {
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
		return nil, hints.Errorf("it is damaged, or of a program that counted wrong: pull it again",
			"the values of %s add up to more than 64 bits can hold", p.Types[kind])
	}
	return p, nil
}

// newBuilder makes a Builder that holds to the limits.
func newBuilder(o *Options, types ...profile.ValueType) *profile.Builder {
	b := profile.NewBuilder(types...)
	b.Limit(o.Limits)
	return b
}

var errEmpty = hints.Errorf("pull or write it again: the answer had no body, or the disk was full", "the file is empty")
