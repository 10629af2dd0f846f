// Nothing runs side by side here, so that the race detector would find nothing, in as much time again.

//go:build !race

package pgo

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

var builds = flag.Bool("builds", false, "build the program of TestWitnessOfBuilds and run it, and keep its profiles in testdata/witness, from where they are read otherwise")

// hotProgram has four calls of functions that cost more than 80 and less than 2,000, and small ones. Their callers
// are not inlined: in a copy of a function the compiler takes its calls for cold.
const hotProgram = `package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

type state struct{ a, b, c, d uint64 }

func mix(s *state, x uint64) uint64 {
	s.a += x * 0x9e3779b97f4a7c15
	s.b ^= s.a>>31 | s.a<<33
	s.c += s.b*0xbf58476d1ce4e5b9 + 7
	s.d ^= s.c>>29 | s.c<<35
	if s.d&1023 == 0 {
		s.a ^= s.d
		s.b += s.a * 3
	}
	s.a = s.a*0x94d049bb133111eb + s.d
	s.b = s.b>>7 ^ s.a<<11 ^ s.c
	s.c = s.c*5 + s.b>>3
	return s.a ^ s.b ^ s.c ^ s.d
}

func fold(s *state, x uint64) uint64 {
	t := x ^ s.a
	t ^= t << 13
	t ^= t >> 7
	t ^= t << 17
	if t&4095 == 7 {
		s.a += t
		s.b -= t * 9
	}
	s.c ^= t*0x2545f4914f6cdd1d + s.b
	s.d += s.c>>9 ^ s.a<<5
	t = t*3 + s.d ^ s.c>>2
	t ^= s.a>>3 + s.b<<9 ^ s.c>>27
	return t + s.d*s.a
}

func spin(s *state, x uint64) uint64 {
	t := x + s.d
	t = t<<5 ^ t>>3 ^ s.a*0x9e3779b97f4a7c15
	if t&8191 == 5 {
		s.d ^= t
	}
	s.b += t ^ s.c>>11
	s.c = s.c<<3 ^ s.b>>13 ^ t*0xff51afd7ed558ccd
	t += s.b*3 ^ s.c*5 ^ s.d*7
	t ^= t >> 33
	t *= 0xc4ceb9fe1a85ec53
	t ^= t>>33 + s.a<<1 ^ s.b<<2 ^ s.c<<4
	return t
}

func churn(s *state, x uint64) uint64 {
	t := s.b*x + s.c
	t ^= t>>17 ^ t<<21 ^ s.d
	if t&2047 == 3 {
		s.b ^= t
	}
	s.a += t*0x94d049bb133111eb ^ s.b>>5
	s.d = s.d<<7 ^ s.a>>9 ^ t*11
	t += s.a*13 ^ s.d*17 ^ s.c*19
	t ^= t >> 29
	t *= 0xbf58476d1ce4e5b9
	t ^= t>>32 + s.d<<1 ^ s.c<<2 ^ s.a<<4
	return t
}

//go:noinline
func first(s *state, n uint64) (x uint64) {
	for i := range n {
		x += mix(s, i)
		x ^= fold(s, x)
	}
	return x
}

//go:noinline
func second(s *state, n uint64) (x uint64) {
	for i := range n {
		x += spin(s, i)
		x ^= churn(s, x)
	}
	return x
}

//go:noinline
func leaf0(x uint64) uint64 {
	for range 4 {
		x = x*40503 ^ x>>3
	}
	return x
}

//go:noinline
func leaf1(x uint64) uint64 {
	for range 4 {
		x = x*40505 ^ x>>4
	}
	return x
}

//go:noinline
func leaf2(x uint64) uint64 {
	for range 4 {
		x = x*40507 ^ x>>5
	}
	return x
}

//go:noinline
func leaf3(x uint64) uint64 {
	for range 4 {
		x = x*40509 ^ x>>6
	}
	return x
}

//go:noinline
func leaf4(x uint64) uint64 {
	for range 4 {
		x = x*40511 ^ x>>7
	}
	return x
}

//go:noinline
func leaf5(x uint64) uint64 {
	for range 4 {
		x = x*40513 ^ x>>8
	}
	return x
}

func relay(s *state, x uint64) uint64 {
	a := leaf0(x ^ s.a)
	b := leaf1(x + s.b)
	c := leaf2(a ^ s.c)
	d := leaf3(b + s.d)
	e := leaf4(c ^ d)
	e ^= leaf5(a + b)
	s.a ^= e<<3 ^ d>>1
	s.b += e ^ c*5
	s.c ^= a<<7 ^ b>>3
	s.d += e>>5 ^ a*3
	return a ^ b ^ c ^ d ^ e
}

//go:noinline
func third(s *state, n uint64) (x uint64) {
	for i := range n {
		x += relay(s, i)
	}
	return x
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.SetCPUProfileRate(250) // it is kept, with a warning
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	s, x := &state{1, 2, 3, 4}, uint64(0)
	for range 20 {
		x += first(s, 1e6) + second(s, 1e6) + third(s, 1e6)
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		panic(err)
	}
	fmt.Println(x)
}
`

// built is a program of a module of its own.
type built struct {
	t   *testing.T
	dir string
}

func newModule(t *testing.T, source string) *built {
	t.Helper()
	b := &built{t: t, dir: t.TempDir()}
	b.write("go.mod", "module hot\n\ngo 1.26\n")
	b.write("main.go", source)
	return b
}

func (b *built) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// build builds it with a profile, or none, and gives its path. The compiler has the profile for the main package alone, as
// with -pgo it would compile the standard library anew, which takes ten times as long.
func (b *built) build(name, pgo string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	flags := "-gcflags="
	if pgo != "" {
		flags += "-pgoprofile=" + filepath.Join(b.dir, pgo)
	}
	cmd := exec.CommandContext(b.t.Context(), "go", "build", "-pgo=off", flags, "-o", path, ".")
	cmd.Dir = b.dir
	if said, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("go build: %v\n%s", err, said)
	}
	return path
}

// profile is the CPU profile of a run of it: that of testdata, unless builds are wanted.
func (b *built) profile(name, pgo string) *profile.Profile {
	b.t.Helper()
	kept, err := filepath.Abs(filepath.Join("testdata", "witness", name+".pb.gz"))
	if err != nil {
		b.t.Fatal(err)
	}
	if *builds {
		path := b.build(name, pgo)
		if said, err := exec.CommandContext(b.t.Context(), path, kept).CombinedOutput(); err != nil {
			b.t.Fatalf("%s: %v\n%s", path, err, said)
		}
	}
	return profiletest.Read(b.t, kept)
}

func (b *built) pack(o PackOptions, profiles ...*profile.Profile) *Pack {
	b.t.Helper()
	var inputs []Input
	for _, p := range profiles {
		inputs = append(inputs, Input{Name: "run", Profile: p})
	}
	pack, err := NewPack(b.t.Context(), inputs, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return pack
}

// TestWitnessOfBuilds: builds without PGO and with it are told apart, by the profile and by the pack that was made of it.
func TestWitnessOfBuilds(t *testing.T) {
	b := newModule(t, hotProgram)
	old := b.profile("plain", "")
	pack := b.pack(PackOptions{}, old)
	b.write("hot.pgo", string(pack.Bytes))
	blocked := b.pack(PackOptions{Block: []string{"main.mix"}}, old)
	b.write("blocked.pgo", string(blocked.Bytes))

	withPGO, again := b.profile("hot", "hot.pgo"), b.profile("again", "")
	without := b.profile("blocked", "blocked.pgo")
	for _, test := range []struct {
		name    string
		old     *profile.Profile
		fresh   *profile.Profile
		control []*profile.Profile
		want    Effect
	}{
		{"with PGO", old, withPGO, nil, TookEffect},
		{"with PGO, by the pack", pack.Profile, withPGO, nil, TookEffect},
		{"with PGO, against a control", pack.Profile, withPGO, []*profile.Profile{again}, TookEffect},
		{"without", old, again, nil, NoSign},
		{"without, by the pack", pack.Profile, again, nil, NoSign},
		{"without, against a control", pack.Profile, again, []*profile.Profile{old}, NoSign},
		{"a profile of a build with PGO, and one without as control", withPGO, withPGO, []*profile.Profile{old}, TookEffect},
	} {
		w, err := NewWitness(test.old, test.fresh, test.control...)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s: %s", test.name, w.Effect, w.Reason)
		if w.Effect != test.want {
			t.Errorf("%s: %s, not %s: %s %+v", test.name, w.Effect, test.want, w.Reason, w)
		}
	}
	for _, test := range []struct {
		name    string
		running *profile.Profile
		want    Effect
	}{{"with PGO", withPGO, TookEffect}, {"without", again, CannotTell}} {
		v := Verify(&Subject{Name: test.name, Running: test.running})
		t.Logf("%s, by itself: %s: %s", test.name, v.Effect, v.Reason)
		if v.Effect != test.want {
			t.Errorf("%s, by itself: %s, not %s: %s", test.name, v.Effect, test.want, v.Reason)
		}
	}
	isInlined := func(p *profile.Profile, name string) bool {
		for e, how := range SightOfProfile(p).calls {
			if e.Callee == name && how.inlined {
				return true
			}
		}
		return false
	}
	if !isInlined(withPGO, "main.mix") || isInlined(without, "main.mix") || !isInlined(without, "main.spin") {
		t.Errorf("main.mix is inlined: %v, blocked: %v; main.spin beside it: %v",
			isInlined(withPGO, "main.mix"), isInlined(without, "main.mix"), isInlined(without, "main.spin"))
	}
}
