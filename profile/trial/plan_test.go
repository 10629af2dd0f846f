package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPlanMistakes(t *testing.T) {
	for name, x := range map[string]struct {
		plan       Plan
		want, hint string
	}{
		"nothing to run":           {Plan{}, "no load and no benchmark", "--load"},
		"no program in the load":   {Plan{Load: "x -cpuprofile {profile}"}, "lacks {bin}", "{bin} ARG"},
		"no way to a profile":      {Plan{Load: "{bin}"}, "no way to a CPU profile", "--profile-load"},
		"benchmarks and a load":    {Plan{Bench: ".", Load: "{bin} {profile}"}, "goes without --load", "one of them"},
		"benchtime alone":          {Plan{Load: "{bin} {profile}", BenchTime: "1s"}, "belongs to --bench", ""},
		"a quotation mark":         {Plan{Load: "{bin} '{profile}"}, "not closed", "sh -c"},
		"a build without {bin}":    {Plan{Load: "{bin} {profile}", Build: "go build {pgo} ."}, "lacks {bin}", "--build"},
		"a build without {pgo}":    {Plan{Load: "{bin} {profile}", Build: "go build -o {bin} ."}, "no {pgo}", "--build"},
		"ready without service":    {Plan{Load: "{bin} {profile}", Ready: "localhost:1"}, "there is none", "--serve"},
		"a service without ready":  {Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1"}, "--ready is missing", "--ready"},
		"ready that is no address": {Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1", Ready: "ftp://x"}, "not an http address", "http"},
		"ready without a port":     {Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1", Ready: "localhost"}, "host:port", "127"},
		"a service of another":     {Plan{Serve: "nginx", Load: "hey", PProf: "http://localhost:1", Ready: "localhost:1"}, "does not run the program", "--serve"},
		"pairs":                    {Plan{Load: "{bin} {profile}", Pairs: -1}, "pairs are", ""},
		"level":                    {Plan{Load: "{bin} {profile}", Level: 2}, "level", "0.05"},
		"no such load":             {Plan{Load: "no-such-program {bin} {profile}"}, "no program no-such-program", "sh -c"},
		"no such profile":          {Plan{Load: "{bin}", Profiles: []string{"no-such-profile"}}, "--profile", ""},
		"no such folder":           {Plan{Dir: "no-such-folder", Load: "{bin} {profile}"}, "no folder", ""},
		"{pgo} in a load":          {Plan{Load: "{bin} {pgo} {profile}"}, "belongs to --build", "{bin}"},
		"not a regular expression": {Plan{Bench: "("}, "not a regular expression", "--bench ."},
		"benchmarks and --write":   {Plan{Bench: ".", Write: true}, "nowhere to write", "folder"},
		"no address of profiles":   {Plan{Serve: "{bin}", Load: "env", PProf: "ht tp://:", Ready: "localhost:1"}, "--pprof", "6060"},
		"seconds":                  {Plan{Load: "{bin} {profile}", Seconds: 1e6}, "3600", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x.plan.Folder = filepath.Join(t.TempDir(), "trial")
			_, err := Run(t.Context(), x.plan, nil)
			mistake, ok := errors.AsType[*PlanError](err)
			if !ok || !strings.Contains(err.Error(), x.want) || !strings.Contains(mistake.Hint(), x.hint) {
				t.Errorf("got %v, want %q with hint %q", err, x.want, x.hint)
			}
			if _, err := os.Stat(x.plan.Folder); err == nil {
				t.Error("a folder was made for a plan that cannot be")
			}
		})
	}
}

func TestPlanGood(t *testing.T) {
	for name, plan := range map[string]Plan{
		"profile in the load":   {Load: "{bin} -p {profile}"},
		"profile in a variable": {Load: "sh -c '\"$KITESCOPE_BIN\" > \"$KITESCOPE_PROFILE\"'"},
		"a load for profiles":   {Load: "{bin}", ProfileLoad: "{bin} {profile}"},
		"profiles of others":    {Load: "{bin}", Profiles: []string{"plan_test.go"}},
		"benchmarks":            {Bench: "."},
		"a service":             {Serve: "{bin}", Ready: "localhost:80", PProf: "http://localhost", Load: "env"},
		"a build of a makefile": {Load: "{bin} {profile}", Build: `sh -c 'GOFLAGS=$KITESCOPE_PGO make OUT="$KITESCOPE_BIN"'`},
	} {
		if err := plan.settle(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if plan.Pairs != DefaultPairs || plan.Timeout != DefaultTimeout || plan.Events != DefaultEvents {
			t.Errorf("%s: defaults are missing: %+v", name, plan)
		}
	}
}

func TestStateIsOfOnePlan(t *testing.T) {
	dir := t.TempDir()
	begin := func(plan Plan, f folder) (*trial, error) {
		plan.Folder = string(f)
		if err := plan.settle(); err != nil {
			return nil, err
		}
		unlock, err := f.open()
		if err != nil {
			return nil, err
		}
		defer unlock()
		tr := &trial{plan: plan, folder: f}
		if tr.state, err = f.load(&tr.plan); err != nil {
			return nil, err
		}
		return tr, tr.save()
	}
	f := folder(filepath.Join(dir, "trial"))
	plan := Plan{Dir: dir, Load: "{bin} --token abc123 {profile}", Pairs: 8}
	if tr, err := begin(plan, f); err != nil || tr.state.Seed == 0 {
		t.Fatalf("begin: %v", err)
	}
	text, err := os.ReadFile(f.path(stateFile))
	if err != nil || strings.Contains(string(text), "abc123") {
		t.Errorf("the state holds a secret, or is not there: %v", err)
	}
	first, err := begin(plan, f)
	if err != nil {
		t.Fatalf("go on: %v", err)
	}
	if again, err := begin(plan, f); err != nil || again.state.Seed != first.state.Seed {
		t.Errorf("go on: %v", err)
	}

	other := plan
	other.Pairs = 9
	if tr, err := begin(other, f); err != nil || tr.state.Plan.Pairs != 9 {
		t.Errorf("more pairs, before there is one: %v", err)
	}
	first.state.Pack = &Pack{}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(other, f); err == nil || !strings.Contains(err.Error(), "pairs was 8 and is 9 now") {
		t.Errorf("more pairs, when it is known what some showed: %v", err)
	}
	other = plan
	other.Timeout = time.Hour
	if _, err := begin(other, f); err == nil || !strings.Contains(err.Error(), "timeout was") {
		t.Errorf("another plan: %v", err)
	}
	secret := plan
	secret.Load = "{bin} --token other {profile}"
	if _, err := begin(secret, f); err == nil || strings.Contains(err.Error(), "abc123") || strings.Contains(err.Error(), "other {") {
		t.Errorf("another secret: %v", err)
	}

	for name, text := range map[string]string{
		"no JSON":       "{",
		"a later state": `{"Version":99}`,
		"a path":        strings.Replace(string(text), `"Rounds": null`, `"Rounds": [{"File":"../../x"}]`, 1),
	} {
		if err := os.WriteFile(f.path(stateFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := begin(plan, f); err == nil {
			t.Errorf("%s: it is gone on with", name)
		}
	}

	if err := os.WriteFile(f.path(stateFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for journal, want := range map[string]string{
		"{\"Side\":\"x\"}\n":                      "of no side",
		"{\"Side\":\"a\"}\n{\n{\"Side\":\"a\"}\n": "line 2",
		"{\"Side\":\"a\"}\n{\"Sid":                "",
	} {
		if err := os.WriteFile(f.path(journalFile), []byte(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := begin(plan, f)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("journal %q: %v, want %q", journal, err, want)
		}
		if want == "" && (err != nil || len(tr.state.Runs) != 1) {
			t.Errorf("journal %q: %v", journal, err)
		}
	}

	foreign := folder(filepath.Join(dir, "foreign"))
	if err := os.MkdirAll(string(foreign), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign.path("precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(plan, foreign); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder of somebody else: %v", err)
	}
}
