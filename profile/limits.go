package profile

import (
	"errors"
	"fmt"

	"kitescope/internal/hints"
)

// Limits bound what a file may ask for. The zero Limits are the defaults.
type Limits struct {
	// MaxBytes is how large the profile may be when it is decompressed; 0: 2 GiB.
	MaxBytes int64
	// MaxMemory is how many bytes of memory may be held of it at any time, with what tables need while they grow, and of a
	// result of merging; 0: 2 GiB. What the process takes may be twice as much until garbage is collected, which a
	// machine with 8 GB has.
	MaxMemory int64
	// MaxSamples is how many samples it may have; 0: 50 million.
	MaxSamples int
	// Size is how many bytes there are to read, if that is known: 0 if not. It limits nothing. Tables
	// whose size it lets foresee need not be moved while they grow, which saves half of the memory.
	Size int64
}

const (
	defaultMaxBytes   = 2 << 30
	defaultMaxMemory  = 2 << 30
	defaultMaxSamples = 50_000_000
	// maxField is the largest single message of a pprof file: a sample, a function, a name.
	maxField = 64 << 20
	// maxName is the longest name: of a function with all its template arguments it is some kilobytes.
	maxName = 1 << 20
	// maxNames bounds all names. They are one text, that is there more than once while it grows.
	maxNames = 512 << 20
	// maxTypes is how many values a sample may have. Programs have been seen with 4.
	maxTypes = 1000
)

// orDefaults fills in what is 0.
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

// ErrTooLarge is the error, by errors.Is, of a profile that is beyond a limit.
var ErrTooLarge = errors.New("too large")

const limitHint = "is it a profile? if it is, profile a shorter time, or fewer processes at once"

// tooLarge says which limit was passed.
func tooLarge(format string, args ...any) error {
	return hints.Errorf(limitHint, "the profile is %w: %s", ErrTooLarge, fmt.Sprintf(format, args...))
}
