package source_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"kitescope/inspect/source"
)

// writeCompaction writes a compaction revision to a file.
func writeCompaction(t *testing.T, path, name string, revision int64) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte(name), revisionKey(revision, false))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPastOfACompactionUnderWay checks a compaction in progress: etcd drops old revisions gradually after
// scheduling it.
func TestPastOfACompactionUnderWay(t *testing.T) {
	written, _ := history(200)
	path := backend(t, nil, written)
	writeCompaction(t, path, "finishedCompactRev", 20)
	writeCompaction(t, path, "scheduledCompactRev", 50)
	src := open(t, path, source.Options{})
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	h := pin(t, src).Header()
	if oldest, err := past.Oldest(t.Context(), h); err != nil || oldest != 50 {
		t.Fatalf("oldest %d, %v", oldest, err)
	}
	if got := changes(t, past, h, 50, 201); len(got) != 151 {
		t.Errorf("%d revisions, want 151", len(got))
	}
}

// TestPastOfADamagedFile checks that the records of a damaged page are lost and that the page is reported.
func TestPastOfADamagedFile(t *testing.T) {
	written, _ := history(2000)
	good := readFile(t, backend(t, nil, written))
	leaf := 0
	for at := 2 * 4096; at+4096 <= len(good); at += 4096 {
		page := good[at:]
		isLeaf := binary.LittleEndian.Uint16(page[8:]) == 2
		if overflow := binary.LittleEndian.Uint32(page[12:]); isLeaf && overflow == 0 &&
			bytes.Contains(page[:4096], []byte("/0100")) {
			leaf = at
		}
	}
	bad := bytes.Clone(good)
	clear(bad[leaf : leaf+4096])
	of := func(opts source.Options, content []byte) source.Past {
		opts.Stdin = bytes.NewReader(content)
		past, err := source.PastOf(open(t, "-", opts))
		if err != nil {
			t.Fatal(err)
		}
		return past
	}
	past := of(source.Options{}, bad)
	h := source.Header{Root: "by-dev", MetaPath: "meta"}
	expectHint(t, past.Changes(t.Context(), h, 1, 2001, func(int64, []source.Event) error { return nil }), "damaged",
		"--salvage")

	past = of(source.Options{Salvage: true}, bad)
	kept := changes(t, past, h, 1, 2001)
	all := of(source.Options{}, good)
	have := map[int64]bool{}
	for _, k := range kept {
		have[k.revision] = true
	}
	var first, last, lost int64
	for _, c := range changes(t, all, h, 1, 2001) {
		if !have[c.revision] {
			if last = c.revision; first == 0 {
				first = last
			}
			lost++
		}
	}
	if lost == 0 || last-first+1 != lost {
		t.Fatalf("lost %d revisions, %d to %d", lost, first, last)
	}
	where := fmt.Sprintf("page %d", leaf/4096)
	if gaps := pin(t, past).Gaps(); !slices.ContainsFunc(gaps, func(g source.Gap) bool { return g.Where == where }) {
		t.Errorf("gaps %v, want one at %s", gaps, where)
	}
}

// TestNoPast checks sources without past revisions.
func TestNoPast(t *testing.T) {
	written, _ := history(300)
	good := readFile(t, backend(t, nil, written))
	bad := bytes.Clone(good)
	for at := 2 * 4096; at+4096 <= len(bad); at += 4096 {
		if binary.LittleEndian.Uint16(bad[at+8:]) == 1 { // all branches, and therefore the index
			clear(bad[at : at+4096])
		}
	}
	swept := open(t, "-", source.Options{Stdin: bytes.NewReader(bad), Salvage: true})
	past, err := source.PastOf(swept)
	if err != nil {
		t.Fatal(err)
	}
	_, err = past.Oldest(t.Context(), source.Header{Root: "by-dev"})
	expectHint(t, err, "the index of the file is lost", "newest revision")

	backup := open(t, filepath.Join(snapshots, "standalone-2.3.5", "birdwatcher_backup.bak.gz"), source.Options{})
	defer backup.Close()
	_, err = source.PastOf(backup)
	expectHint(t, err, "it has no history", "snapshot save")
	if !errors.Is(err, source.ErrNoHistory) {
		t.Error(err)
	}
}
