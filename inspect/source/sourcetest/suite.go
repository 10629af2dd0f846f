// Package sourcetest checks that every source.Source follows the same contract. It compares a source with the
// keys that it must hold and reports differences as test failures.
//
//  1. Run pins the source and compares its header.
//  2. It scans everything, and afterwards parts, and compares keys and values.
//  3. It stops scans early, by an error and by the context, and scans again.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/source"
)

// Want is the expected content of a source.
type Want struct {
	Kind           string
	Root, MetaPath string
	// Revision is not compared if it is 0.
	Revision int64
	// Keys are in order. Revisions, versions and leases are compared if Exact is set.
	Keys  []source.KV
	Exact bool
}

// Run checks one source against the contract of package source.
func Run(t *testing.T, src source.Source, want Want) {
	t.Helper()
	ctx := t.Context()
	snap, err := src.Pin(ctx)
	if err != nil {
		t.Fatalf("Pin: %v", err)
	}
	checkHeader(t, snap.Header(), want)
	whole := []source.Range{{}}
	got := scan(t, snap, whole)
	if snap.Seekable() && !slices.IsSortedFunc(got, byKey) {
		t.Error("a seekable snapshot yields out of order")
	}
	compare(t, "whole store", got, want.Keys, want.Exact)
	checkParts(t, snap, want)
	checkStops(t, snap, want)
	compare(t, "after scans that stopped", scan(t, snap, whole), want.Keys, want.Exact)
	if gaps := snap.Gaps(); len(gaps) > 0 {
		t.Errorf("Gaps = %v of a source without any", gaps)
	}
	if err := snap.Close(); err != nil {
		t.Errorf("close the snapshot: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Errorf("close the source: %v", err)
	}
}

func checkHeader(t *testing.T, h source.Header, want Want) {
	t.Helper()
	got := source.Header{
		Origin: source.Origin{Kind: h.Origin.Kind}, Root: h.Root, MetaPath: h.MetaPath, Revision: h.Revision,
	}
	expected := source.Header{
		Origin: source.Origin{Kind: want.Kind}, Root: want.Root, MetaPath: want.MetaPath, Revision: want.Revision,
	}
	if want.Revision == 0 {
		got.Revision = 0
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if h.Origin.Location == "" || h.Origin.Detail == "" {
		t.Errorf("origin %+v does not say where it is from", h.Origin)
	}
}

// checkParts reads single directories, a single key, and ranges without keys.
func checkParts(t *testing.T, snap source.Snapshot, want Want) {
	t.Helper()
	h := snap.Header()
	middle := string(want.Keys[len(want.Keys)/2].Key)
	cases := map[string][]source.Range{
		"no range":     nil,
		"one key":      {{From: middle, To: middle + "\x00"}},
		"below a key":  {{To: middle}},
		"from a key":   {{From: middle}},
		"nothing":      {source.Prefix("zzz-nowhere/")},
		"two prefixes": {source.Prefix(h.MetaPrefix() + "root-coord/"), source.Prefix(h.MetaPrefix() + "session/")},
		"cut in three": {
			{From: h.Root + "/", To: middle},
			{From: middle, To: middle + "\x00"},
			{From: middle + "\x00", To: h.Root + "0"},
		},
		"many, gaps between": {
			source.Prefix(h.MetaPrefix() + "datacoord-meta/a"), source.Prefix(h.MetaPrefix() + "datacoord-meta/s/"),
			source.Prefix(h.MetaPrefix() + "root-coord/d"), source.Prefix(h.Root + "/zzz"),
		},
	}
	for name, ranges := range cases {
		var expected []source.KV
		for _, kv := range want.Keys {
			if slices.ContainsFunc(ranges, func(r source.Range) bool { return r.Contains(kv.Key) }) {
				expected = append(expected, kv)
			}
		}
		compare(t, name, scan(t, snap, ranges), expected, want.Exact)
	}
	overlap := []source.Range{{From: "a", To: "c"}, {From: "b", To: "d"}}
	if snap.Seekable() {
		return
	}
	if err := snap.Scan(t.Context(), overlap, func(source.KV) error { return nil }); err == nil {
		t.Error("ranges that overlap are accepted: keys of both would be missing in one")
	}
}

// checkStops ends scans by an error of yield and by the context.
func checkStops(t *testing.T, snap source.Snapshot, want Want) {
	t.Helper()
	enough := errors.New("enough")
	seen := 0
	err := snap.Scan(t.Context(), []source.Range{{}}, func(source.KV) error {
		if seen++; seen == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || err.Error() != enough.Error() || seen != min(3, len(want.Keys)) {
		t.Errorf("Scan returns %v after %d keys, want the error of yield after 3", err, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = snap.Scan(ctx, []source.Range{{}}, func(source.KV) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Scan with a canceled context returns %v", err)
	}
}

func scan(t *testing.T, snap source.Snapshot, ranges []source.Range) []source.KV {
	t.Helper()
	var got []source.KV
	err := snap.Scan(t.Context(), ranges, func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		got = append(got, kv)
		return nil
	})
	if err != nil {
		t.Errorf("Scan %v: %v", ranges, err)
	}
	return got
}

func compare(t *testing.T, what string, got, want []source.KV, exact bool) {
	t.Helper()
	if diff := cmp.Diff(texts(want, exact), texts(got, exact)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// text is a key-value in a form that cmp displays well.
type text struct {
	Key, Value                         string
	Create, Modified, Versions, Leased int64
}

func texts(kvs []source.KV, exact bool) []text {
	out := make([]text, len(kvs))
	for i, kv := range kvs {
		out[i] = text{Key: string(kv.Key), Value: string(kv.Value)}
		if exact {
			out[i].Create, out[i].Modified = kv.CreateRevision, kv.ModRevision
			out[i].Versions, out[i].Leased = kv.Version, kv.Lease
		}
	}
	slices.SortFunc(out, func(a, b text) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	return out
}

func byKey(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) }

// Dump is the output of etcdctl get "" --prefix -w json.
type Dump struct {
	Revision int64
	Keys     []source.KV
}

// ReadDump reads etcd_raw.json.gz in the directory of a captured snapshot. It is the output of etcd itself, and
// therefore the reference for files.
func ReadDump(t testing.TB, folder string) Dump {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "etcd_raw.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Header struct {
			Revision int64 `json:"revision"`
		} `json:"header"`
		Kvs []struct {
			Key            []byte `json:"key"`
			Value          []byte `json:"value"`
			CreateRevision int64  `json:"create_revision"`
			ModRevision    int64  `json:"mod_revision"`
			Version        int64  `json:"version"`
			Lease          int64  `json:"lease"`
		} `json:"kvs"`
	}
	if err := json.NewDecoder(r).Decode(&raw); err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	dump := Dump{Revision: raw.Header.Revision}
	for _, kv := range raw.Kvs {
		dump.Keys = append(dump.Keys, source.KV(kv))
	}
	slices.SortFunc(dump.Keys, byKey)
	return dump
}

// WithPrefix returns the keys that start with prefix.
func (d Dump) WithPrefix(prefix string) []source.KV {
	var out []source.KV
	for _, kv := range d.Keys {
		if bytes.HasPrefix(kv.Key, []byte(prefix)) {
			out = append(out, kv)
		}
	}
	return out
}
