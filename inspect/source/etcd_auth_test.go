package source_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// grant is a permission to read.
type grant struct{ from, to string }

func prefix(p string) grant { return grant{p, clientv3.GetPrefixRangeEnd(p)} }

// authServer starts an etcd with a capture, and users with the given read permissions.
func authServer(t *testing.T, users map[string][]grant) (*sourcetest.Server, sourcetest.Dump) {
	t.Helper()
	server := sourcetest.StartEtcd(t, func(c *embed.Config) { c.BcryptCost = 4 })
	dump := sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5"))
	server.Load(t, dump.Keys)
	authorize(t, server, users)
	return server, dump
}

// authorize adds users to a server and enables authentication.
func authorize(t *testing.T, server *sourcetest.Server, users map[string][]grant) {
	t.Helper()
	ctx := t.Context()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(server.Client.UserAdd(ctx, "root", "rootpw"))
	must(server.Client.RoleAdd(ctx, "root"))
	must(server.Client.UserGrantRole(ctx, "root", "root"))
	for user, grants := range users {
		must(server.Client.UserAdd(ctx, user, "secret"))
		must(server.Client.RoleAdd(ctx, user+"-role"))
		must(server.Client.UserGrantRole(ctx, user, user+"-role"))
		for _, g := range grants {
			must(server.Client.RoleGrantPermission(ctx, user+"-role", g.from, g.to,
				clientv3.PermissionType(clientv3.PermRead)))
		}
	}
	must(server.Client.AuthEnable(ctx))
}

// reads returns the keys that a user reads in the root, and the gaps.
func reads(t *testing.T, from, user string) ([]string, []source.Gap) {
	t.Helper()
	src := open(t, from, source.Options{Username: user, Password: "secret", DialTimeout: time.Minute})
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatalf("%s: Pin: %v", user, err)
	}
	h := snap.Header()
	if h.Root != "by-dev" || h.MetaPath != "meta" {
		t.Errorf("%s: root %q %q", user, h.Root, h.MetaPath)
	}
	var keys []string
	err = snap.Scan(t.Context(), []source.Range{
		source.Prefix("by-dev/kv/"), source.Prefix("by-dev/meta/datacoord-meta/"),
		source.Prefix("by-dev/meta/root-coord/"),
	}, func(kv source.KV) error {
		keys = append(keys, string(kv.Key))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: Scan: %v", user, err)
	}
	return keys, snap.Gaps()
}

func keysBelow(d sourcetest.Dump, prefixes ...string) []string {
	var keys []string
	for _, p := range prefixes {
		for _, kv := range d.WithPrefix(p) {
			keys = append(keys, string(kv.Key))
		}
	}
	return keys
}

func TestAuth(t *testing.T) {
	server, dump := authServer(t, map[string][]grant{
		"whole": {prefix("by-dev/")},
		"part": {
			prefix("by-dev/meta/root-coord/"), prefix("by-dev/meta/datacoord-meta/s/"), {"by-dev/meta/session/id", ""},
		},
		"deep": {prefix("by-dev/meta/datacoord-meta/s/")},
		"none": nil,
		"else": {prefix("other/")},
	})
	address := "etcd://" + server.Address
	all := keysBelow(dump, "by-dev/kv/", "by-dev/meta/datacoord-meta/", "by-dev/meta/root-coord/")

	for _, from := range []string{address, address + "/by-dev", address + "/by-dev/meta"} {
		keys, gaps := reads(t, from, "whole")
		if diff := cmp.Diff(all, keys); diff != "" || len(gaps) > 0 {
			t.Errorf("%s, role for the root: gaps %v, keys (-want +got):\n%s", from, gaps, diff)
		}
		keys, gaps = reads(t, from, "part")
		want := keysBelow(dump, "by-dev/meta/datacoord-meta/s/", "by-dev/meta/root-coord/")
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s, role for a part (-want +got):\n%s", from, diff)
		}
		wantGaps := []source.Gap{
			{Where: `keys under "by-dev/kv/"`, Reason: "permission denied", Keys: source.Prefix("by-dev/kv/")},
			{
				Where:  `keys ["by-dev/meta/datacoord-meta/", "by-dev/meta/datacoord-meta/s/")`,
				Reason: "permission denied",
				Keys:   source.Range{From: "by-dev/meta/datacoord-meta/", To: "by-dev/meta/datacoord-meta/s/"},
			},
			{
				Where:  `keys ["by-dev/meta/datacoord-meta/s0", "by-dev/meta/datacoord-meta0")`,
				Reason: "permission denied",
				Keys:   source.Range{From: "by-dev/meta/datacoord-meta/s0", To: "by-dev/meta/datacoord-meta0"},
			},
		}
		if diff := cmp.Diff(wantGaps, gaps); diff != "" {
			t.Errorf("%s, gaps of a role for a part (-want +got):\n%s", from, diff)
		}
	}
	if keys, _ := reads(t, address, "deep"); !slices.Equal(keys, keysBelow(dump, "by-dev/meta/datacoord-meta/s/")) {
		t.Errorf("role for one directory reads %d keys", len(keys))
	}

	login := func(user, password string) error {
		return pinError(t, address, source.Options{Username: user, Password: password})
	}
	expectHint(t, login("none", "secret"), "permission denied", "role grant-permission")
	expectHint(t, login("whole", "wrong"), "authentication failed", "password")
	expectHint(t, login("nobody", "secret"), "authentication failed", "password")
	expectHint(t, login("", ""), "user name is empty", "--user")
	var root *source.RootError
	if err := login("else", "secret"); !errors.As(err, &root) {
		t.Errorf("role for another prefix: %v, want a RootError", err)
	}
	for _, err := range []error{login("whole", "wrong"), login("none", "secret")} {
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("the password is in the error %q", err)
		}
	}
}

func TestPermissionFoundOutInScan(t *testing.T) {
	// A role that may read the first requested key finds out later that it may not read others.
	server, dump := authServer(t, map[string][]grant{
		"late": {{"by-dev/meta/session/id", ""}, prefix("by-dev/meta/root-coord/")},
	})
	keys, gaps := reads(t, "etcd://"+server.Address+"/by-dev", "late")
	if diff := cmp.Diff(keysBelow(dump, "by-dev/meta/root-coord/"), keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if len(gaps) != 2 {
		t.Errorf("gaps %v, want kv/ and datacoord-meta/", gaps)
	}
}

func TestRoleChangesBetweenReads(t *testing.T) {
	a, b, c := prefix("by-dev/meta/datacoord-meta/s/"), prefix("by-dev/meta/root-coord/"),
		prefix("by-dev/meta/session/")
	server, dump := authServer(t, map[string][]grant{"changing": {a, b, c}})
	admin, err := clientv3.New(clientv3.Config{
		Endpoints: []string{server.Address}, Username: "root", Password: "rootpw",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	src := open(t, "etcd://"+server.Address, source.Options{Username: "changing", Password: "secret"})
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := func(snap source.Snapshot) []string {
		t.Helper()
		var keys []string
		if err := snap.Scan(t.Context(), []source.Range{source.Prefix("by-dev/")}, func(kv source.KV) error {
			keys = append(keys, string(kv.Key))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if diff := cmp.Diff(keysBelow(dump, a.from, b.from, c.from), read(snap)); diff != "" {
		t.Errorf("first read (-want +got):\n%s", diff)
	}
	if _, err := admin.RoleRevokePermission(t.Context(), "changing-role", c.from, c.to); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keysBelow(dump, a.from, b.from), read(snap)); diff != "" {
		t.Errorf("after a right was withdrawn (-want +got):\n%s", diff)
	}
	if _, err := admin.RoleGrantPermission(t.Context(), "changing-role", "by-dev/", "by-dev0",
		clientv3.PermissionType(clientv3.PermRead)); err != nil {
		t.Fatal(err)
	}
	again, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := read(again); len(got) != len(dump.WithPrefix("by-dev/")) || len(again.Gaps()) > 0 {
		t.Errorf("after a right was granted: %d keys, gaps %v", len(got), again.Gaps())
	}
}

func TestTokenIsRenewed(t *testing.T) {
	server, dump := authServer(t, map[string][]grant{"whole": {prefix("by-dev/")}})
	src := open(t, "etcd://"+server.Address, source.Options{Username: "whole", Password: "secret"})
	defer func() { _ = src.Close() }()
	read := func() map[string]string {
		t.Helper()
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		if err := snap.Scan(t.Context(), []source.Range{source.Prefix("by-dev/")}, func(kv source.KV) error {
			got[string(kv.Key)] = string(kv.Value)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := read()
	admin, err := clientv3.New(clientv3.Config{
		Endpoints: []string{server.Address}, Username: "root", Password: "rootpw",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	// A change of the users invalidates all tokens.
	if _, err := admin.UserAdd(t.Context(), "new", "pw"); err != nil {
		t.Fatal(err)
	}
	if second := read(); !maps.Equal(first, second) || len(first) != len(dump.WithPrefix("by-dev/")) {
		t.Errorf("read %d keys, then %d", len(first), len(second))
	}
}

func TestWatchWithPartOfTheRoot(t *testing.T) {
	server, _ := authServer(t,
		map[string][]grant{"part": {prefix("by-dev/meta/root-coord/"), prefix("by-dev/meta/session/")}})
	src := open(t, "etcd://"+server.Address, source.Options{Username: "part", Password: "secret"}).(source.Watcher)
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	admin, err := clientv3.New(clientv3.Config{
		Endpoints: []string{server.Address}, Username: "root", Password: "rootpw",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	for _, key := range []string{"by-dev/meta/root-coord/x", "by-dev/meta/secret", "by-dev/meta/session/y"} {
		if _, err := admin.Put(t.Context(), key, "v"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	enough := errors.New("enough")
	var seen []string
	err = src.Watch(ctx, snap.Header(), func(_ int64, events []source.Event) error {
		for _, e := range events {
			seen = append(seen, string(e.Key))
		}
		if len(seen) == 2 {
			return enough
		}
		return nil
	})
	slices.Sort(seen)
	if !errors.Is(err, enough) || !slices.Equal(seen, []string{"by-dev/meta/root-coord/x", "by-dev/meta/session/y"}) {
		t.Errorf("watch saw %v and ended with %v", seen, err)
	}
}
