// Package profiletest reads profiles for tests and subtracts them as pprof does.
package profiletest

import (
	"os"
	"testing"

	"kitescope/profile"
)

// Read reads a pprof file and fails the test if it cannot.
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

// Subtract returns p minus base as one profile, like `go tool pprof -diff_base`, with or without -normalize.
// The base's samples are labelled and their values negative.
func Subtract(p, base *profile.Profile, normalize bool) (*profile.Profile, error) {
	a, err := profile.Align(p, base)
	if err != nil {
		return nil, err
	}
	if normalize {
		factors, err := profile.NormalFactors(a.New, a.Minus)
		if err != nil {
			return nil, err
		}
		for i := range factors {
			factors[i] = 0 - factors[i]
		}
		a.New = a.New.Scale(factors)
	}
	return profile.Merge([]*profile.Profile{a.New, a.Minus.SetLabel(profile.BaseLabel, "true")}, profile.MergeOptions{})
}
