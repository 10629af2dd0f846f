// Package profiletest reads profiles for tests, and makes differences of them as pprof does.
package profiletest

import (
	"os"
	"testing"

	"kitescope/profile"
)

// Read reads a pprof file, and ends the test where it cannot.
func Read(t testing.TB, path string) *profile.Profile {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Decode(t.Context(), f, profile.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

// Subtract is the new profile minus the base, as one profile with negative values, which is what
// `go tool pprof -base` shows.
func Subtract(p, base *profile.Profile, o profile.SubtractOptions) (*profile.Profile, error) {
	a, err := profile.Align(p, base, o)
	if err != nil {
		return nil, err
	}
	return profile.Merge([]*profile.Profile{a.New, a.Minus}, profile.MergeOptions{})
}
