package profile

import (
	"bytes"
	"strings"
	"testing"
)

// TestLongNames checks that names are shortened, because a name may be written once for each of its callers.
// Names that differ only in the middle must stay distinct, and a Note must report the shortening. It covers
// the name table and the Builder.
func TestLongNames(t *testing.T) {
	long := func(middle string) string {
		return strings.Repeat("é", 250_000) + middle + strings.Repeat("z", 400_000)
	}
	usual := strings.Repeat("n", 4<<10)
	// The file is built by hand with full names because a Builder shortens them.
	whole := &Profile{
		Types: []ValueType{{"samples", "count"}},
		Functions: []Function{
			{Name: long("a"), SystemName: long("a"), File: long("f")},
			{Name: long("b")},
			{Name: usual, SystemName: usual},
		},
		Mappings:  []Mapping{{File: long("m"), BuildID: "cafe"}},
		Locations: []Location{{FirstLine: 0, Lines: 1}, {FirstLine: 1, Lines: 1}, {FirstLine: 2, Lines: 1}},
		Lines:     []Line{{Function: 0}, {Function: 1}, {Function: 2}},
		Starts:    []uint32{0, 3}, Stacks: []uint32{0, 1, 2}, Values: []int64{1}, LabelSets: [][]Label{nil},
	}
	var file bytes.Buffer
	if err := whole.Encode(&file); err != nil {
		t.Fatal(err)
	}
	decoded, err := Decode(t.Context(), &file, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(whole.Types...)
	mapping := b.Mapping(whole.Mappings[0])
	for _, f := range append(whole.Functions, whole.Functions...) { // again: the same function
		b.Location(mapping, 0, Line{Function: b.Function(f)})
	}
	for name, p := range map[string]*Profile{"decoded": decoded, "built": b.Profile()} {
		if len(p.Functions) != 3 || len(p.Locations) != 3 {
			t.Fatalf("%s: %d functions at %d locations, not 3", name, len(p.Functions), len(p.Locations))
		}
		for i, f := range p.Functions[:2] {
			if len(f.Name) > 4<<10 || !strings.HasPrefix(f.Name, "éé") || !strings.HasSuffix(f.Name, "zz") ||
				!strings.Contains(f.Name, "(900001 bytes, ") {
				t.Errorf("%s: the name of function %d is %d bytes: %.40q", name, i, len(f.Name), f.Name)
			}
		}
		if f := p.Functions[0]; f.Name == p.Functions[1].Name || f.SystemName != f.Name || len(f.File) > 4<<10 ||
			len(p.Mappings[0].File) > 4<<10 {
			t.Errorf("%s: names that differ became one, or a file's name is whole", name)
		}
		if p.Functions[2].Name != usual || p.Functions[2].SystemName != usual || p.Mappings[0].BuildID != "cafe" {
			t.Errorf("%s: a name of 4 KiB was changed", name)
		}
		if len(p.Notes) != 1 || !strings.Contains(p.Notes[0].What, "longer than 4 KiB") || p.Notes[0].Count < 3 {
			t.Errorf("%s: the notes are %v", name, p.Notes)
		}
	}
}
