package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/profile/pgo"
)

// loopProgram profiles itself, if it was built with a profile. Else it says what it said when it did so once, in two runs
// one after the other: then the pack is the same each time, and the go command compiles the standard library with it once.
const loopProgram = `
	if len(os.Args) > 2 {
		info, _ := debug.ReadBuildInfo()
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" }) {
			said := one
			if _, err := os.Stat("said"); err == nil {
				said = two
			}
			if err := errors.Join(os.WriteFile("said", nil, 0o600), os.WriteFile(os.Args[2], said, 0o600)); err != nil {
				panic(err)
			}
			return
		}
		f, err := os.Create(os.Args[2])
		if err != nil {
			panic(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			panic(err)
		}
		defer pprof.StopCPUProfile()
		for range 500 {
			sum += work(200000)
		}
	}
`

// TestWholeLoop lets a real program profile itself, builds it with that, and profiles both.
func TestWholeLoop(t *testing.T) {
	text := strings.Replace(program, `import "os"`, `import (
	_ "embed"
	"errors"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
)

//go:embed one.pb.gz
var one []byte

//go:embed two.pb.gz
var two []byte

var sum int`, 1)
	text = strings.Replace(text, "\tif work(200000)", loopProgram+"\tif work(200000)", 1)
	text, _, _ = strings.Cut(text, "\tfor _, word")
	files := map[string]string{"main.go": text + "}\n"}
	for _, name := range []string{"one.pb.gz", "two.pb.gz"} {
		profile, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(profile)
	}
	dir, _ := module(t, files)
	p := Plan{
		Dir: dir, Load: "{bin} {run}", ProfileLoad: "{bin} {run} {profile}", Pairs: 3, Events: 60, Anyway: true,
		Folder: filepath.Join(t.TempDir(), "trial"),
	}
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	rounds := map[Round]int{}
	for _, x := range r.Rounds {
		if _, err := os.Stat(filepath.Join(p.Folder, filepath.FromSlash(x.File))); err != nil || x.Events < 1 {
			t.Errorf("%+v: %v", x, err)
		}
		rounds[Round{Side: x.Side, After: x.After}]++
	}
	for _, x := range []Round{{Side: "a"}, {Side: "a", After: true}, {Side: "b", After: true}} {
		if rounds[x] < minRounds {
			t.Errorf("%d rounds of %+v", rounds[x], x)
		}
	}
	if r.Profiled {
		t.Error("the measured runs are said to have been profiled")
	}
	if r.Witness == nil || len(r.Witness.Calls) == 0 {
		t.Fatalf("no witness: %s, %+v", r.NoWitness, r.Witness)
	}
	for _, c := range r.Witness.Calls {
		if c.Callee == "main.mix" && !c.Inlined {
			t.Errorf("the profile of the program with PGO shows a call of %s, which must be inlined", c.Callee)
		}
	}
	if r.WitnessControl == nil || r.WitnessControl.Effect == pgo.TookEffect {
		t.Errorf("the program without PGO: %+v", r.WitnessControl)
	}
	if r.Effect() == pgo.NoSign {
		t.Errorf("no sign of PGO: %+v", r.Witness)
	}
	if r.Judgement == nil || r.Judgement.Events < p.Events || len(r.Judgement.Profiles) != 2 {
		t.Fatalf("judged: %+v", r.Judgement)
	}
	for _, x := range append(r.Judgement.Refusals, r.Judgement.Cautions...) {
		if strings.Contains(x.Message, "same time") {
			t.Errorf("rounds were one after the other: %s", x.Message)
		}
	}
}
