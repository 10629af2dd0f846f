package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"os"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// verify checks that the received file is a profile of the requested kind, and records its content in e. It
// returns an error only if the file cannot be read back.
func (p *puller) verify(ctx context.Context, path string, e *Entry, got *download) (*failure, error) {
	if f := sniffFailure(e.Kind, got); f != nil {
		return f, nil
	}
	if e.Kind == Trace {
		return nil, nil
	}
	select {
	case p.decoding <- struct{}{}:
		defer func() { <-p.decoding }()
	case <-ctx.Done():
		return newFailure(Interrupted, "stopped before the profile was checked"), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	limits := p.opts.Limits
	limits.Size = got.bytes
	read, err := profile.Decode(ctx, file, limits)
	if err != nil {
		return decodeFailure(ctx, err), nil
	}
	if f := wrongKind(e.Kind, read); f != nil {
		return f, nil
	}
	return p.describe(e, read, got), nil
}

// traceMagic matches the beginning of an execution trace (internal/trace: "go 1.%d trace\x00\x00\x00").
var traceMagic = profile.NewPattern(`^go 1\.[0-9]{1,3} trace\x00`)

// sniffFailure returns the failure for a response whose first bytes show that it is not a profile.
func sniffFailure(k Kind, got *download) *failure {
	media, _, _ := mime.ParseMediaType(got.contentType)
	text := bytes.TrimLeft(got.head, " \t\r\n\ufeff")
	switch {
	case got.bytes == 0:
		return newFailure(NoProfile, "the response is empty")
	case strings.Contains(media, "html"), bytes.HasPrefix(text, []byte("<")) && !got.packed:
		return newFailure(NoProfile, "the response is an HTML page").
			withHint("is there a login page in between? otherwise give the path: http://host:port/path/debug/pprof")
	case k == Trace && !traceMagic().Match(got.head):
		return newFailure(NoProfile, "the response is not an execution trace: it begins with %q", brief(got.head))
	case k != Trace && traceMagic().Match(got.head):
		return newFailure(NoProfile, "the response is an execution trace")
	case strings.Contains(media, "json"), bytes.HasPrefix(text, []byte("{")):
		return newFailure(NoProfile, "the response is JSON")
	}
	return nil
}

func brief(head []byte) []byte { return head[:min(len(head), 16)] }

func decodeFailure(ctx context.Context, err error) *failure {
	f := newFailure(NoProfile, "the response does not decode: %v", err)
	switch {
	case ctx.Err() != nil:
		return newFailure(Interrupted, "stopped before the profile was checked")
	case errors.Is(err, profile.ErrTooLarge):
		f = newFailure(TooLarge, "%v", err)
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "is cut after"):
		f = newFailure(CutOff, "the response ends in the middle of the profile")
	}
	if hints.HasHint(err) {
		f.hint = hints.Of(err)
	}
	return f
}

// contents returns the kinds whose samples have type t.
func contents(t profile.ValueType) []Kind {
	switch t.String() {
	case "cpu/nanoseconds":
		return []Kind{CPU}
	case "inuse_space/bytes":
		return []Kind{Heap, Allocs}
	case "goroutine/count", "goroutines/count":
		return []Kind{Goroutine}
	case "contentions/count":
		return []Kind{Mutex, Block}
	case "threadcreate/count":
		return []Kind{ThreadCreate}
	}
	return nil
}

// wrongKind returns the failure for a profile of another kind than the requested one. It accepts unknown types.
func wrongKind(k Kind, read *profile.Profile) *failure {
	base := Kind(strings.TrimSuffix(string(k), delta))
	if _, known := specOf(k); !known {
		return nil
	}
	var is []Kind
	for _, t := range read.Types {
		for _, c := range contents(t) {
			if c == base {
				return nil
			}
			is = append(is, c)
		}
	}
	if len(is) == 0 {
		return nil
	}
	return newFailure(NoProfile, "the response is a profile of another kind: %s", joinKinds(is))
}

// describe records the content of a profile and notes about it. It returns a failure if a delta came too early to be
// one.
func (p *puller) describe(e *Entry, read *profile.Profile, got *download) *failure {
	wanted := time.Duration(e.Seconds) * time.Second
	isDelta := strings.HasSuffix(string(e.Kind), delta)
	if isDelta && got.took < wanted*9/10 {
		return newFailure(Failed, "the server does not compute deltas: it responded within %s",
			got.took.Round(time.Millisecond)).
			withHint("pull %s twice and compare", strings.TrimSuffix(string(e.Kind), delta))
	}
	if len(read.Mappings) > 0 {
		e.BuildID = read.Mappings[0].BuildID
	}
	e.Stacks = read.Len()
	e.ProfileTime, e.ProfileSeconds = read.Time.UTC(), read.Duration.Seconds()
	if read.Time.IsZero() {
		e.ProfileTime = time.Time{}
	}
	if kind, err := read.KindOf(""); err == nil && kind < len(read.Types) {
		e.Type, e.Unit = read.Types[kind].Type, read.Types[kind].Unit
		total := sum(read, kind)
		e.Total = &total
		if _, events := read.Events(kind); events >= 0 {
			e.Samples = &events
		}
	}
	e.Notes = nil
	if read.Len() == 0 {
		e.Notes = append(e.Notes, emptyNote(e.Kind))
	}
	if e.Kind == CPU && read.Duration > 0 && deviates(read.Duration, wanted) {
		e.Notes = append(e.Notes,
			fmt.Sprintf("window %s (%s requested)", read.Duration.Round(time.Millisecond), wanted))
	}
	return nil
}

// deviates reports whether d differs from wanted by more than 20%, and by more than 500 ms.
func deviates(d, wanted time.Duration) bool {
	return wanted > 0 && (d-wanted).Abs() > max(wanted/5, 500*time.Millisecond)
}

// sum returns the sum of values. It stops at the limits of int64.
func sum(read *profile.Profile, kind int) int64 {
	var total int64
	for i := range read.Len() {
		v := read.Value(i, kind)
		switch {
		case v > 0 && total > math.MaxInt64-v:
			return math.MaxInt64
		case v < 0 && total < math.MinInt64-v:
			return math.MinInt64
		}
		total += v
	}
	return total
}

// emptyNote returns the note for a profile without samples.
func emptyNote(k Kind) string {
	base := Kind(strings.TrimSuffix(string(k), delta))
	if base == CPU {
		return "no samples: the process used no CPU"
	}
	if base == Mutex {
		return "no samples: the process does not sample mutexes (its rate is not set), or none was contended"
	}
	if base == Block {
		return "no samples: the process does not sample blocking (its rate is not set), or nothing blocked"
	}
	return "no samples"
}

// BusyCores returns the CPU time per second of a CPU profile, and whether it is known.
func (e *Entry) BusyCores() (float64, bool) {
	if e.Kind != CPU || e.Total == nil || e.Unit != "nanoseconds" || e.ProfileSeconds <= 0 {
		return 0, false
	}
	return float64(*e.Total) / 1e9 / e.ProfileSeconds, true
}
