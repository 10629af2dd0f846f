package symbol

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kitescope/profile"
)

func TestLayoutAddress(t *testing.T) {
	// As lld lays out: code stands elsewhere in memory than in the file.
	lld := layout{segments: []segment{
		{offset: 0, size: 0x800, virtual: 0, memory: 0x800},
		{offset: 0x800, size: 0x3000, virtual: 0x1800, memory: 0x3000, executable: true},
	}}
	debug := layout{debug: true, segments: []segment{
		{offset: 0, virtual: 0, memory: 0x800},
		{offset: 0, virtual: 0x1800, memory: 0x3000, executable: true},
	}}
	program := layout{segments: []segment{{offset: 0x1000, size: 0x5000, virtual: 0x401000, memory: 0x5000, executable: true}}}
	vdso := layout{segments: []segment{{offset: 0, size: 0xa00, virtual: 0, memory: 0xa00, executable: true}}}
	prelinked := layout{segments: []segment{{offset: 0, size: 0x5000, virtual: 0x10000000, memory: 0x5000, executable: true}}}
	two := layout{debug: true, segments: []segment{{virtual: 0x1000, memory: 0x1000, executable: true}, {virtual: 0x3000, memory: 0x1000, executable: true}}}
	for name, c := range map[string]struct {
		l              layout
		m              profile.Mapping
		address, first uint64
		want           uint64
		err            error
	}{
		"library":                      {lld, profile.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000005000}, 0x7f0000001900, 0, 0x1900, nil},
		"its second part":              {lld, profile.Mapping{Start: 0x7f0000003000, Limit: 0x7f0000005000, Offset: 0x2000}, 0x7f0000003010, 0, 0x3010, nil},
		"offsets":                      {lld, profile.Mapping{Limit: 0x4000}, 0x810, 0, 0x1810, nil},
		"before its code":              {lld, profile.Mapping{Limit: 0x4000}, 0x7ff, 0, 0, errOutside},
		"behind its code":              {lld, profile.Mapping{Limit: 0x8000}, 0x3800, 0, 0, errOutside},
		"place unknown":                {lld, profile.Mapping{}, 0x810, 0, 0, errPlace},
		"below the mapping":            {lld, profile.Mapping{Start: 0x1000, Limit: 0x4000}, 0x810, 0, 0, errPlace},
		"above the mapping":            {lld, profile.Mapping{Start: 0x1000, Limit: 0x4000}, 0x4000, 0, 0, errPlace},
		"program at one address":       {program, profile.Mapping{Start: 0x401000, Limit: 0x406000, Offset: 0x1000}, 0x401234, 0x1000, 0x401234, nil},
		"vdso":                         {vdso, profile.Mapping{Start: 0x7ffd00001000, Limit: 0x7ffd00003000, File: "[vdso]"}, 0x7ffd00001900, 0, 0x900, nil},
		"prelinked":                    {prelinked, profile.Mapping{Start: 0x10000000, Limit: 0x10005000}, 0x10000123, 0, 0x10000123, nil},
		"prelinked, loaded elsewhere":  {prelinked, profile.Mapping{Start: 0x7f0000000000, Limit: 0x7f0000005000}, 0x7f0000000123, 0, 0x10000123, nil},
		"debug file":                   {debug, profile.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000005000, Offset: 0x1000}, 0x7f0000001900, 0x1000, 0x1900, nil},
		"debug file, second part":      {debug, profile.Mapping{Start: 0x7f0000003000, Limit: 0x7f0000005000, Offset: 0x3000}, 0x7f0000003010, 0x1000, 0x3010, nil},
		"debug file, before its code":  {debug, profile.Mapping{Start: 0x7f0000001000, Limit: 0x7f0000005000, Offset: 0x1000}, 0x7f0000001010, 0x1000, 0, errOutside},
		"debug file, no place":         {debug, profile.Mapping{Limit: 0x4000}, 0x1900, 0, 0, errDebug},
		"debug file with two segments": {two, profile.Mapping{Start: 0x1000, Limit: 0x4000, Offset: 0x1000}, 0x1900, 0x1000, 0, errDebug},
	} {
		got, err := c.l.address(&c.m, c.address, c.first)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %x, %v; want %x, %v", name, got, err, c.want, c.err)
		}
	}
}

func TestTableFind(t *testing.T) {
	table := table{functions: []function{
		{from: 0x100, to: 0x200, name: "outer"},
		{from: 0x140, to: 0x150, name: "inner"},
		{from: 0x300, to: 0x480, name: "label", rank: 16, open: true},
		{from: 0x300, to: 0x310, name: "weak", rank: 1},
		{from: 0x300, to: 0x310, name: "strong"},
		{from: 0x400, to: 0x480, name: "last", rank: 8, open: true},
	}}
	table.sort()
	for address, want := range map[uint64]string{
		0xff: "", 0x100: "outer", 0x13f: "outer", 0x140: "inner", 0x14f: "inner", 0x150: "outer", 0x1ff: "outer", 0x200: "",
		0x300: "strong", 0x30f: "strong", 0x310: "label", 0x3ff: "label", 0x400: "last", 0x47f: "last", 0x480: "",
	} {
		if f, _ := table.find(address); f.name != want {
			t.Errorf("%x is in %q, want %q", address, f.name, want)
		}
	}
}

// FuzzImage opens damaged files with symbols.
func FuzzImage(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "profiles", "perf", "symbols", "libdistance.so.debug"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint64(0x1126))
	f.Add(data[:700], uint64(0x1126))
	f.Fuzz(func(t *testing.T, data []byte, address uint64) {
		if len(data) > 64<<10 {
			t.Skip("large")
		}
		path := filepath.Join(t.TempDir(), "x.so")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := buildIDOf(path); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		image, err := open(context.Background(), []string{path})
		if err != nil {
			return
		}
		m := profile.Mapping{Limit: ^uint64(0)}
		if a, err := image.layout.address(&m, address, 0); err == nil {
			image.table.find(a)
		}
		for _, fn := range image.table.functions[:min(len(image.table.functions), 20)] {
			image.table.find(fn.from)
		}
	})
}
