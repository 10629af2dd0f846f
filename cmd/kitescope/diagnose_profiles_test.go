package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/cmd/kitescope/cli"
)

func profilesOf(state string) string {
	return filepath.Join("..", "..", "testdata", "profiles", state)
}

// diagnoseProfiles runs diagnose and returns the findings of profile checks, each as "severity check object
// message", and the status and reason of the profile checks that did not run, by check id.
func diagnoseProfiles(t *testing.T, args ...string) (found []string, skipped map[string]string) {
	t.Helper()
	var d struct {
		Items []struct {
			Check, Severity, Message string
			Object                   struct{ Resource, ID string }
		}
		Checks []struct{ Check, Status, Reason string }
	}
	decodeJSON(t,
		kitescope(t, cli.ExitOK, append([]string{"diagnose", "-o", "json", "--fail-on", "never"}, args...)...).stdout,
		&d)
	for _, f := range d.Items {
		if strings.HasPrefix(f.Check, "profile-") {
			found = append(found,
				strings.Join([]string{f.Severity, f.Check, f.Object.Resource + "/" + f.Object.ID, f.Message}, " "))
		}
	}
	skipped = map[string]string{}
	for _, x := range d.Checks {
		if strings.HasPrefix(x.Check, "profile-") && x.Status != "ok" && x.Status != "findings" {
			skipped[x.Check] = x.Status + ": " + x.Reason
		}
	}
	return found, skipped
}

// TestDiagnoseProfiles checks the findings on profiles of a real cluster in three states: even load with
// inserts (t3), one query node that serves nothing (t5), and one that serves little (t7).
func TestDiagnoseProfiles(t *testing.T) {
	for state, want := range map[string][]string{
		"t3": nil,
		"t5": {
			"warning profile-idle-node nodes/querynode2 querynode2 is idle: it uses 0.00 cores, the other 3 query " +
				"nodes use 0.29 on average",
		},
		"t7": {
			"info profile-idle-node nodes/querynode4 querynode4 is nearly idle: it uses 0.09 cores, the other 3 " +
				"query nodes use 0.40 on average",
		},
	} {
		found, skipped := diagnoseProfiles(t,
			append(captureFlags(t, "cluster-2.3.5-"+state), "--profiles", profilesOf(state))...)
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
		// Nearly idle nodes are left out, because their profile is too small to judge.
		names := map[string]string{
			"t3": "querynode1, querynode2, querynode3 and querynode4", "t5": "querynode1, querynode3 and querynode4",
			"t7": "querynode1, querynode2 and querynode3",
		}[state]
		if diff := cmp.Diff(map[string]string{
			"profile-brute-force-share": "skipped: not fully checked: brute force on " + names +
				": libknowhere has no symbols: brute force and IVF cannot be told apart",
			"profile-goroutine-leak": "skipped: needs two goroutine profiles of a process",
		}, skipped); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
}

// TestDiagnoseWithoutProfiles checks that profile checks are skipped without profiles, and that --strict
// fails for this reason only if a profile check is selected.
func TestDiagnoseWithoutProfiles(t *testing.T) {
	flags := captureFlags(t, "cluster-2.3.5-t7")
	_, skipped := diagnoseProfiles(t, flags...)
	if len(skipped) != 5 || skipped["profile-gc-share"] != "skipped: profiles were not pulled" {
		t.Errorf("%v", skipped)
	}
	strict := append([]string{"diagnose", "--strict", "--fail-on", "never", "--only"}, "node-idle,profile-gc-share")
	kitescope(t, cli.ExitIncomplete, append(strict, flags...)...)
	kitescope(t, cli.ExitOK,
		append([]string{
			"diagnose", "--strict", "--fail-on", "never", "--only", "profile-gc-share", "--profiles", profilesOf("t7"),
		}, flags...)...)
}

func TestDiagnoseProfileFlags(t *testing.T) {
	flags := captureFlags(t, "cluster-2.3.5-t5")
	empty := t.TempDir()
	for _, v := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--profiles", "a", "--profile", "5s"}, cli.ExitUsage, "use only one of them"},
		{[]string{"--profile", "-1s"}, cli.ExitUsage, "1s to 1h"},
		{[]string{"--profile", "1500ms"}, cli.ExitUsage, "whole seconds"},
		{[]string{"--profile", "1s", "--live=false"}, cli.ExitUsage, "use only one of them"},
		{[]string{"--profile", "1s", "--watch"}, cli.ExitUsage, "--watch keeps running"},
		{[]string{"--profiles", profilesOf("t5"), "--watch"}, cli.ExitUsage, "--watch keeps running"},
		{[]string{"--profile", "1s"}, cli.ExitUsage, "is a file"},
		{[]string{"--profiles", filepath.Join(empty, "none")}, cli.ExitFailed, "no such file"},
		{[]string{"--profiles", empty}, cli.ExitFailed, "no profiles in it"},
		{
			[]string{"--profiles", capture("cluster-2.3.5-t5", "etcd_snapshot.db.gz")},
			cli.ExitUsage,
			"is not a folder or bundle with profiles",
		},
	} {
		e := kitescope(t, v.code, append(append([]string{"diagnose"}, v.args...), flags...)...)
		containsAll(t, e.err, v.says)
	}
}

// TestDiagnoseBrokenProfiles checks that a truncated profile is reported as missing and that the others are
// still checked.
func TestDiagnoseBrokenProfiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(profilesOf("t5"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "querynode3.cpu.pb.gz")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	found, skipped := diagnoseProfiles(t, append(captureFlags(t, "cluster-2.3.5-t5"), "--profiles", dir)...)
	if len(found) != 1 || !strings.Contains(found[0], "querynode2 is idle") {
		t.Errorf("%q", found)
	}
	if !strings.Contains(skipped["profile-gc-share"], "querynode3.cpu.pb.gz") {
		t.Errorf("%v", skipped)
	}
}
