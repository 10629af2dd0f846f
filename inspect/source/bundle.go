package source

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kitescope/internal/hints"
)

// A bundle is kitescope's own file: a tar stream in zstd (tar --zstd -tf FILE
// lists it), written and read front to back.
//
//	manifest.json   a Manifest, always first
//	keys/000001...  the keys, in order, in chunks of about 4 MiB
//	history/...     what was at other revisions (bundle_history.go); only where the
//	                manifest has a "history"
//	...             whatever later versions add: readers pass over members that
//	                they do not know
//	end.json        a bundleEnd, always last: without it the file was cut off
//
// A chunk of keys is a sequence of records, each a list of unsigned varints
// (encoding/binary) and bytes:
//
//	key length, key, value length, value, create revision, mod revision, version, lease
//
// Revisions, version and lease are 0 where the origin had none. A lease is
// written as the two's complement of an int64.
const (
	// BundleFormat is the "format" of every manifest.
	BundleFormat = "kitescope-bundle"
	// BundleVersion is the version that is written, and the newest that is read.
	BundleVersion = 1

	manifestName = "manifest.json"
	endName      = "end.json"
	keysPrefix   = "keys/"

	// chunkTarget is where a chunk of keys ends, maxChunk what a reader accepts:
	// a chunk holds at least one record, however large.
	chunkTarget = 4 << 20
	maxChunk    = 128 << 20
	// maxValue bounds one value: etcd takes requests of 1.5 MiB, and of a few if it is configured to.
	maxValue = 8 << 20
	// maxJSON bounds manifest.json and end.json.
	maxJSON = 16 << 20
)

// Manifest is the head of a bundle: what it holds and where it comes from.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Kitescope is the version of the program that wrote it.
	Kitescope string `json:"kitescope"`
	Origin    Origin `json:"origin"`
	Root      string `json:"root"`
	MetaPath  string `json:"meta_path"`
	// Revision is etcd's, 0 if the origin did not know it.
	Revision int64 `json:"revision,string"`
	// Taken is when the state was true, zero if unknown.
	Taken time.Time `json:"taken"`
	// FileDate says that Taken is only the date of the file that the bundle was made from.
	FileDate bool `json:"taken_is_file_date,omitempty"`
	// ByClock says that Taken is from the clock of the machine that read a live etcd.
	ByClock bool `json:"taken_by_clock,omitempty"`
	// Redacted says that credentials and other secrets were removed from the values.
	Redacted bool `json:"redacted"`
	// Lacks are the ranges of keys that the origin leaves out by its nature.
	Lacks []Range `json:"lacks,omitempty"`
	// History says that there are further revisions than that of the keys; nil: there are none. It came without a new version, as
	// who does not know it reads the keys, which are of Revision and Taken.
	History *ManifestHistory `json:"history,omitempty"`
}

// bundleEnd closes a bundle.
type bundleEnd struct {
	Keys int64 `json:"keys,string"`
	// Bytes is the sum of the sizes of keys and values.
	Bytes  int64         `json:"bytes,string"`
	Chunks []bundleChunk `json:"chunks"`
	// Gaps are what the origin could not read.
	Gaps []Gap `json:"gaps,omitempty"`
}

// bundleChunk is the check of one member of keys.
type bundleChunk struct {
	Name   string `json:"name"`
	Keys   int64  `json:"keys"`
	SHA256 string `json:"sha256"`
}

// BundleStats is what WriteBundle wrote.
type BundleStats struct {
	// Keys were written, Dropped were left out by the transform.
	Keys, Dropped int64
	// Bytes is the sum of the sizes of keys and values, before compression.
	Bytes int64
	// Past is what was written of other revisions.
	Past PastStats
}

// appendRecord encodes one key.
func appendRecord(b []byte, kv KV) []byte {
	b = binary.AppendUvarint(b, uint64(len(kv.Key)))
	b = append(b, kv.Key...)
	b = binary.AppendUvarint(b, uint64(len(kv.Value)))
	b = append(b, kv.Value...)
	for _, v := range []int64{kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

var errBadRecord = errors.New("malformed record")

// eachRecord yields the records of a chunk; they point into b.
func eachRecord(b []byte, yield func(KV) error) error {
	for len(b) > 0 {
		var kv KV
		var err error
		if kv, b, err = cutRecord(b); err != nil {
			return err
		}
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

func cutRecord(b []byte) (kv KV, rest []byte, err error) {
	for _, field := range []*[]byte{&kv.Key, &kv.Value} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return kv, nil, errBadRecord
		}
		b = b[used:]
		*field, b = b[:n:n], b[n:]
	}
	for _, field := range []*int64{&kv.CreateRevision, &kv.ModRevision, &kv.Version, &kv.Lease} {
		v, used := binary.Uvarint(b)
		if used <= 0 {
			return kv, nil, errBadRecord
		}
		*field, b = int64(v), b[used:]
	}
	if len(kv.Value) > maxValue {
		return kv, nil, errBadRecord
	}
	if len(kv.Key) == 0 {
		return kv, nil, errBadRecord
	}
	return kv, b, nil
}

// parseManifest checks a manifest before anything else of the bundle is read.
func parseManifest(location string, b []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil || m.Format != BundleFormat {
		return m, hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle", location)
	}
	if m.Version < 1 || m.Version > BundleVersion {
		return m, hints.Errorf("update kitescope", "read %s: bundle version %d; this kitescope reads up to %d", location, m.Version, BundleVersion)
	}
	if m.Root == "" || m.MetaPath == "" {
		return m, fmt.Errorf("read %s: the bundle has no root", location)
	}
	return m, nil
}
