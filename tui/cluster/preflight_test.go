package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/check"
	"kitescope/inspect/check/preflight"
	"kitescope/inspect/model"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

func captured(t *testing.T, name string) *model.Cluster {
	t.Helper()
	return tuitest.Capture(t, "..", "..", "testdata", "snapshots", name)
}

// running returns a copy of a cluster whose sessions report another version.
func running(c *model.Cluster, version string) *model.Cluster {
	next := *c
	next.Version.Text, next.Version.Others = version, nil
	next.Origin.Revision++
	return &next
}

func (u *ui) opens(line string) { u.Keys(":").Typed(line).Keys("enter") }

func TestPreflightScreens(t *testing.T) {
	for _, s := range []struct{ name, source, line, keys string }{
		{"preflight-2.1.0", "standalone-2.1.0", "preflight 3.0.2", ""},
		{"preflight-2.3.5", "standalone-2.3.5", "preflight 2.6.22", ""},
		{"preflight-back", "standalone-2.3.5", "preflight 2.2.16 back", ""},
		{"preflight-finding", "standalone-2.1.0", "preflight 3.0.2", "enter"},
		{"preflight-unknown", "standalone-2.3.5", "preflight 4.0", "end"},
	} {
		for _, size := range tuitest.Sizes {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Cluster(captured(t, s.source))
					d.opens(s.line)
					d.Keys(s.keys)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestPreflightMatchesCommand checks that the page lists the findings of the plan's checks, the worst first, and no
// other findings.
func TestPreflightMatchesCommand(t *testing.T) {
	for _, x := range []struct{ source, to string }{
		{"standalone-2.1.0", "2.2.16"},
		{"standalone-2.3.5", "3.0.2"},
		{"upgrade-2.2.16", "2.1.0 back"},
		{"cluster-2.3.5-t1", "2.6.22"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := captured(t, x.source)
			plan, err := parse(strings.Fields(x.to))
			if err != nil {
				t.Fatal(err)
			}
			plan, unfit := plan.For(c)
			if unfit != nil {
				t.Fatal(unfit)
			}
			want := check.Run(c, tuitest.Epoch(), preflight.Checks(plan))
			if len(want.Findings) == 0 {
				t.Fatal("nothing is found: the test says nothing")
			}
			d := driven(t, testConfig(), 200, 50)
			d.Cluster(c)
			d.opens("preflight " + x.to)
			d.Shows("from "+plan.From.String()+" to "+plan.To.String(), "preflight "+x.to)
			d.Keys("home")
			for i, f := range want.Findings {
				d.Keys("enter")
				d.Shows("› " + f.Check)
				d.Keys("esc")
				if i+1 < len(want.Findings) {
					d.Keys("down")
				}
			}
			d.Keys("s")
			d.Shows("save to: preflight-")
			d.Keys("enter")
			for name, text := range d.Saved {
				for _, f := range want.Findings {
					if !strings.Contains(text, f.Check) {
						t.Errorf("saved %s lacks %s:\n%s", name, f.Check, text)
					}
				}
			}
			if len(d.Saved) != 1 {
				t.Errorf("saved %d files", len(d.Saved))
			}
		})
	}
}

// TestPreflightWords checks that the input yields a plan, or one line that explains what to type.
func TestPreflightWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		d.Cluster(captured(t, "standalone-2.3.5"))
		for line, want := range map[string]string{
			"preflight":                 "version required: preflight 3.0.2, or preflight 2.2.16 back",
			"pref":                      "version required",
			"latency a b":               "usage: :latency [COLLECTION]",
			"why nosuch":                "latency",
			"preflight 3":               `"3" is not a version of Milvus: type preflight 3.0.2`,
			"preflight back":            "version required",
			"preflight 3.0.2 2.6.22":    `unexpected argument "2.6.22"`,
			"preflight 3.0.2 running=x": `"x" is not a version of Milvus`,
			"preflight 2.2.16": "2.2.16 is older than the running version (2.3.5); type :preflight " +
				"2.2.16 back",
			"preflight 3.0.2 back": "3.0.2 is newer than the running version (2.3.5); type :preflight 3.0.2",
			"preflight 2.3.5":      "2.3.5 is already running: nothing to do; choose another version",
			"preflight 2.3 back": "2.3.5 is running, and 2.3 has no patch version; give the full " +
				"version, e.g. 2.3.1",
			"preflight 2.3.4 running=2.2.16": "upgrade from 2.2.16 to 2.3.4",
			"upgrade v3.0.2":                 "upgrade from 2.3.5 to 3.0.2, first to 2.5.16",
			"preflight back 2.2.16":          "rollback from 2.3.5 to 2.2.16",
		} {
			d.opens(line)
			d.Shows(want)
			if isPage := strings.Contains(d.Plain(), "› "+"preflight "); isPage != strings.Contains(want, "from ") {
				t.Errorf("%s: a page is there: %v", line, isPage)
			}
			d.Keys("H")
		}
		d.Cluster(running(captured(t, "standalone-2.3.5"), ""))
		if of, unfit := (preflight.Plan{}).For(running(captured(t, "standalone-2.3.5"), "")); unfit == nil {
			t.Fatalf("%+v is known to run", of.From)
		}
		d.opens("preflight 3.0.2")
		d.Shows("the running version is unknown: the source does not record it; type :preflight 3.0.2 running=2.5.16")
		d.opens("preflight 3.0.2 running=2.5.16")
		d.Shows("upgrade from 2.5.16 to 3.0.2, first to 2.6.22")
	})
}

// TestPreflightCompletes checks that tab offers versions to upgrade to, then "back" and older versions.
func TestPreflightCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Cluster(captured(t, "standalone-2.3.5"))
		if got := completions(d.m); !slices.Equal(got, []string{"3.0.2", "2.6.22", "2.5.16", "back", "2.2.16"}) {
			t.Errorf("it offers %q", got)
		}
		d.Keys(":").Typed("pref")
		d.Shows("What an upgrade or rollback would break")
		d.Keys("enter :").Typed("preflight 2.2.16 b").Keys("tab enter")
		d.Shows("rollback from 2.3.5 to 2.2.16")
	})
	for _, text := range preflight.SuggestedTargets() {
		if _, err := preflight.ParseVersion(text); err != nil {
			t.Error(err)
		}
	}
}

// TestPreflightFollowsTheCluster checks that the list and a finding are judged again when another version runs, and
// that the page reports when there is nothing left to do.
func TestPreflightFollowsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.StartPage = "preflight 2.6.22"
		d := driven(t, cfg, 120, 40)
		d.Shows("preflight", "… connecting")
		d.Fits()
		c := captured(t, "standalone-2.3.5")
		d.Cluster(c)
		d.Shows("upgrade from 2.3.5 to 2.6.22, first to 2.5.16", "no direct upgrade from 2.3.5 to 2.6.22: go through")
		d.Keys("/").Typed("no direct upgrade").Keys("enter enter")
		d.Shows("› upgrade-path", "CHECK  ")
		d.Cluster(running(c, "2.5.16"))
		d.Shows("no longer found")
		d.Keys("esc esc")
		d.Shows("upgrade from 2.5.16 to 2.6.22")
		d.Lacks("no direct upgrade", "first to")
		d.Cluster(running(c, "2.6.22"))
		d.Shows("2.6.22 is already running: nothing to do")
		d.Keys("enter e x y s o r f left down / esc") // nothing to act on
		d.Fits()
	})
}

// TestPreflightUnknown checks that checks that could not run are reported, and that nothing is
// shown as good.
func TestPreflightUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Cluster(captured(t, "standalone-2.3.5"))
		d.opens("preflight 4.0")
		d.Shows("no problems found so far", "37 could not run", "4.0 is not covered")
		d.Lacks("✓")
	})
}

// TestPreflightCopyFinding checks the commands that print the current page, explain a check, and run a check
// again.
func TestPreflightCopyFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		c := captured(t, "standalone-2.1.0")
		d.Cluster(c)
		d.opens("preflight 3.0.2 running=2.1.0")
		copied := func() string {
			d.Keys("Y")
			i := slices.IndexFunc(d.m.Menu.Items, func(x tui.MenuItem) bool {
				return strings.HasPrefix(x.Text, "the command")
			})
			d.Keys(strconv.Itoa(i + 1))
			return d.Clip
		}
		if got := copied(); got != "kitescope --from etcd://127.0.0.1:2379/by-dev preflight --to 3.0.2 --running "+
			"2.1.0" {
			t.Errorf("copied %q", got)
		}
		d.Keys("enter")
		if got := copied(); !strings.HasSuffix(got, " preflight --to 3.0.2 --running 2.1.0 upgrade-records") {
			t.Errorf("copied %q", got)
		}
		d.Keys("esc")
		d.Keys("e")
		d.Shows("ABOUT THE CHECK")
		d.Keys("esc esc")
		d.opens("explain upgrade-access")
		d.Shows("47850, pull request 48052")
		d.Keys("H :").Typed("findings").Keys("enter")
		d.Shows("› findings", "4 ok · 3 could not run") // of the diagnosis
		d.Lacks("upgrade", "preflight")
	})
}
