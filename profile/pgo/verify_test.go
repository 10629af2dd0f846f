package pgo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

const hashOfGiven = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// oneCall returns a profile in which main.f calls main.g.
func oneCall(t *testing.T) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	f := profile.Line{Function: b.Function(profile.Function{Name: "main.f", StartLine: 10}), Line: 12}
	g := profile.Line{Function: b.Function(profile.Function{Name: "main.g", StartLine: 20}), Line: 23}
	if err := b.Sample([]uint32{b.Location(profile.NoMapping, 1, g), b.Location(profile.NoMapping, 2, f)},
		[]int64{9}); err != nil {
		t.Fatal(err)
	}
	return b.Profile()
}

func TestVerify(t *testing.T) {
	given := func(p *profile.Profile) *GivenProfile {
		return &GivenProfile{Name: "dir/default.pgo", SHA256: hashOfGiven, Profile: p}
	}
	built := func(pgo string) Build { return Build{PGO: pgo, Hash: HashOfName(pgo), Recorded: true} }
	for _, test := range []struct {
		name   string
		build  Build
		given  *GivenProfile
		effect Effect
		match  Match
		reason string
	}{
		{"a build without a profile", built(""), given(oneCall(t)), NotUsed, MatchUnknown, "built without a profile"},
		{"another build system", Build{}, given(oneCall(t)), EffectUnknown, MatchUnknown, "does not record"},
		{
			"a hash in the name", built("/x/default-0123456789abcdef.pgo"), given(oneCall(t)), Used, MatchHash,
			"built with /x/default-0123456789abcdef.pgo",
		},
		{
			"another hash", built("/x/default-fedcba9876543210.pgo"), given(oneCall(t)), NotUsed, MatchNone,
			"built with another profile",
		},
		{"the same name", built("/x/default.pgo"), given(oneCall(t)), Used, MatchName, "built with /x/default.pgo"},
		{"another name", built("/x/cpu.pgo"), given(oneCall(t)), EffectUnknown, MatchUnknown, "is unknown"},
		{
			"an empty profile", built("/x/default.pgo"), given(&profile.Profile{}), NotUsed, MatchName,
			"recorded, but it is empty: no effect",
		},
		{"no profile to compare with", built("/x/default.pgo"), nil, Used, MatchUnknown, "built with /x/default.pgo"},
		{
			"a profile that cannot be read", built("/x/default-0123456789abcdef.pgo"),
			&GivenProfile{Name: "default.pgo", SHA256: hashOfGiven, Err: errors.New("it is cut")}, Used, MatchHash,
			"built with",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Verify("service", &test.build, test.given)
			if v.Effect != test.effect || v.Match != test.match || !strings.Contains(v.Reason, test.reason) {
				t.Errorf("%s (%s): %s", v.Effect, v.Match, v.Reason)
			}
			if v.Effect == EffectUnknown && v.Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestVerifyManifest(t *testing.T) {
	g := &GivenProfile{
		Name: "default.pgo", SHA256: hashOfGiven, Profile: oneCall(t), Manifest: &Manifest{SHA256: hashOfGiven},
	}
	if v := Verify("service", &Build{}, g); v.Manifest != "matches" || len(v.Notes) > 0 {
		t.Errorf("%s %q", v.Manifest, v.Notes)
	}
	g.Manifest = &Manifest{SHA256: "00"}
	if v := Verify("service", &Build{}, g); v.Manifest != "is of another file" || len(v.Notes) != 1 {
		t.Errorf("%s %q", v.Manifest, v.Notes)
	}
}

// TestReadBuild checks that ReadBuild returns the metadata of this test's binary and of a constructed binary, and
// an error for other files.
func TestReadBuild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBuild(self)
	if err != nil || !IsBinary(self) {
		t.Fatal(err)
	}
	if b.Main != "kitescope/profile/pgo.test" || !strings.HasPrefix(b.GoVersion, "go1.") || b.Recorded || b.PGO != "" {
		t.Errorf("%+v", b)
	}
	path := filepath.Join(t.TempDir(), "service")
	if err := os.WriteFile(path,
		profiletest.Binary(t, "example.com/service", "-compiler=gc", "-pgo=/src/default-0123456789abcdef.pgo"),
		0o600); err != nil {
		t.Fatal(err)
	}
	want := &Build{
		Main: "example.com/service", GoVersion: "go1.26.8", PGO: "/src/default-0123456789abcdef.pgo",
		Hash: "0123456789abcdef", Recorded: true,
	}
	if b, err := ReadBuild(path); err != nil || *b != *want || !IsBinary(path) {
		t.Errorf("%+v, %v", b, err)
	}
	for name, text := range map[string]string{"text": "no program", "elf": "\x7fELF\x02\x01\x01 cut", "empty": ""} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadBuild(path); err == nil || !strings.Contains(err.Error(), "not a Go program") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
