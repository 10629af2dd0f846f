package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// TestPGOOfDamagedProfiles checks judge and pack on a valid profile that was damaged in typical ways. If judge
// reports a profile as unfit because Go would reject it, pack refuses it for the same reason.
func TestPGOOfDamagedProfiles(t *testing.T) {
	dir := t.TempDir()
	const good = "testdata/pgo/plain.pb.gz"
	spoilt := func(from, name string, each func(f *profile.Function)) string {
		p := profiletest.Read(t, from)
		for i := range p.Functions {
			each(&p.Functions[i])
		}
		for i := range p.Mappings {
			p.Mappings[i].BuildID = ""
		}
		path := filepath.Join(dir, name+".pb.gz")
		var out bytes.Buffer
		if err := p.Encode(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	noLines := spoilt(good, "lines", func(f *profile.Function) { f.StartLine = 0 })
	noNames := spoilt(good, "names", func(f *profile.Function) { f.Name, f.SystemName = "", "" })
	whole := spoilt(good, "whole", func(*profile.Function) {})
	for _, test := range []struct {
		name     string
		profiles []string
		judged   int
		says     string
		packed   int
	}{
		{
			"no start lines",
			[]string{noLines},
			cli.ExitFindings, "profile unfit: no function has a start line",
			cli.ExitFailed,
		},
		{"stripped names", []string{noNames}, cli.ExitFindings, "profile unfit: ", cli.ExitFailed},
		{"one of two without start lines", []string{whole, noLines}, cli.ExitOK, "no-start-lines", cli.ExitFailed},
		{"nothing spoilt", []string{whole}, cli.ExitOK, "worth building", cli.ExitOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := kitescope(t, test.judged,
				append([]string{"pgo", "judge", "--min-samples", "100", "--fail-on", "unfit"}, test.profiles...)...)
			if !strings.Contains(e.stdout, test.says) {
				t.Errorf("%s\n%s", e.stdout, e.err)
			}
			out := filepath.Join(t.TempDir(), "default.pgo")
			kitescope(t, test.packed, append([]string{"pgo", "pack", "-O", out}, test.profiles...)...)
			if _, err := os.Stat(out); (err == nil) != (test.packed == cli.ExitOK) {
				t.Errorf("the pack: %v", err)
			}
		})
	}
}
