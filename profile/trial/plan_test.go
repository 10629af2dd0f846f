package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanMistakes(t *testing.T) {
	for name, x := range map[string]struct {
		plan       Plan
		want, hint string
	}{
		"nothing to run":         {Plan{}, "no load", "--load"},
		"no program in the load": {Plan{Load: "x -cpuprofile {profile}"}, "lacks {bin}", "{bin} ARG"},
		"no way to a profile":    {Plan{Load: "{bin}"}, "no source of CPU profiles", "--profile-load"},
		"a quotation mark":       {Plan{Load: "{bin} '{profile}"}, "not closed", "sh -c"},
		"a build without {bin}": {
			Plan{Load: "{bin} {profile}", Build: "go build {pgo} ."}, "lacks {bin}", "--build",
		},
		"a build without {pgo}": {
			Plan{Load: "{bin} {profile}", Build: "go build -o {bin} ."}, "no {pgo}", "--build",
		},
		"ready without service": {Plan{Load: "{bin} {profile}", Ready: "localhost:1"}, "need a service", "--serve"},
		"a service without ready": {
			Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1"}, "--ready is missing", "--ready",
		},
		"ready that is no address": {
			Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1", Ready: "ftp://x"},
			"not an http address",
			"http",
		},
		"ready without a port": {
			Plan{Serve: "{bin}", Load: "hey", PProf: "http://localhost:1", Ready: "localhost"}, "host:port", "127",
		},
		"a service of another": {
			Plan{Serve: "nginx", Load: "hey", PProf: "http://localhost:1", Ready: "localhost:1"},
			"does not run the program", "--serve",
		},
		"pairs": {Plan{Load: "{bin} {profile}", Pairs: -1}, "pairs must be", ""},
		"level": {Plan{Load: "{bin} {profile}", Level: 2}, "level", "0.05"},
		"no such load": {
			Plan{Load: "no-such-program {bin} {profile}"}, "program no-such-program not found", "sh -c",
		},
		"no such profile": {Plan{Load: "{bin}", Profiles: []string{"no-such-profile"}}, "--profile", ""},
		"no such folder":  {Plan{Dir: "no-such-folder", Load: "{bin} {profile}"}, "no folder", ""},
		"{pgo} in a load": {Plan{Load: "{bin} {pgo} {profile}"}, "belongs to --build", "{bin}"},
		"no address of profiles": {
			Plan{Serve: "{bin}", Load: "env", PProf: "ht tp://:", Ready: "localhost:1"}, "--pprof", "6060",
		},
		"seconds": {Plan{Load: "{bin} {profile}", Seconds: 1e6}, "3600", ""},
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
		"a service":             {Serve: "{bin}", Ready: "localhost:80", PProf: "http://localhost", Load: "env"},
		"a build of a makefile": {
			Load: "{bin} {profile}", Build: `sh -c 'GOFLAGS=$KITESCOPE_PGO make OUT="$KITESCOPE_BIN"'`,
		},
	} {
		if err := plan.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if plan.Pairs != DefaultPairs || plan.Timeout != DefaultTimeout || plan.Events != DefaultEvents {
			t.Errorf("%s: defaults are missing: %+v", name, plan)
		}
	}
}

func TestFolderIsNewOrEmpty(t *testing.T) {
	f := folder(filepath.Join(t.TempDir(), "trial"))
	if err := f.create(); err != nil {
		t.Fatal(err)
	}
	if err := f.create(); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second trial in it: %v", err)
	}
}

func TestReportHasNoSecrets(t *testing.T) {
	plan := Plan{Dir: ".", Load: "{bin} --token abc123 {profile}"}
	if err := plan.validate(); err != nil {
		t.Fatal(err)
	}
	if r := newTrial(plan, nil).report; strings.Contains(fmt.Sprint(r.Plan), "abc123") || r.Seed == 0 {
		t.Errorf("%+v", r.Plan)
	}
}
