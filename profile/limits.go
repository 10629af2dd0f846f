package profile

import (
	"errors"
	"fmt"

	"kitescope/internal/hints"
)

// Limits bounds the resources that a file may use. The zero Limits are the defaults.
type Limits struct {
	// MaxBytes is the maximum size of the decompressed profile in bytes. 0 means 2 GiB.
	MaxBytes int64
	// MaxMemory is the maximum size in memory, in bytes, of a profile or of a merge result. It includes the
	// extra space of tables while they grow. 0 means 2 GiB. The process may use twice as much until garbage is
	// collected, which fits into a machine with 8 GB.
	MaxMemory int64
	// MaxSamples is the maximum number of samples. 0 means 50 million.
	MaxSamples int
	// Size is the number of bytes to read, 0 if unknown. It is not a limit. It lets the decoder predict the
	// size of tables, so that they need not be moved while they grow. This saves half of the memory.
	Size int64
}

const (
	defaultMaxBytes   = 2 << 30
	defaultMaxMemory  = 2 << 30
	defaultMaxSamples = 50_000_000
	// maxField is the maximum size in bytes of a single message in a pprof file: a sample, a function, a
	// name.
	maxField = 64 << 20
	// maxName is the maximum size in bytes of a name. A function with all its template arguments takes some
	// kilobytes.
	maxName = 1 << 20
	// maxNames is the maximum size in bytes of all names. They form one text, which is in memory more than
	// once while it grows.
	maxNames = 512 << 20
	// maxTypes is the maximum number of values per sample. Programs with 4 have been seen.
	maxTypes = 1000
)

// orDefaults replaces zeros by the defaults.
func (l Limits) orDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = defaultMaxBytes
	}
	if l.MaxMemory <= 0 {
		l.MaxMemory = defaultMaxMemory
	}
	if l.MaxSamples <= 0 {
		l.MaxSamples = defaultMaxSamples
	}
	return l
}

// ErrTooLarge is the error for a profile that exceeds a limit. Test for it with errors.Is.
var ErrTooLarge = errors.New("too large")

const limitHint = "is it a profile? if it is, profile a shorter time, or fewer processes at once"

// tooLarge returns an ErrTooLarge that describes the exceeded limit.
func tooLarge(format string, args ...any) error {
	return hints.Errorf(limitHint, "the profile is %w: %s", ErrTooLarge, fmt.Sprintf(format, args...))
}
