package source

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kitescope/internal/hints"
)

// A bundle is the file format of kitescope: a tar stream compressed with zstd (tar --zstd -tf FILE lists it).
// It is written and read sequentially.
//
//	manifest.json   a Manifest, always first
//	keys/000001...  the keys, in order, in chunks of about 4 MiB
//	history/...     the state at other revisions (bundle_history.go); only if the
//	                manifest has a "history"
//	...             additions of later versions: readers skip unknown members
//	end.json        a bundleEnd, always last: without it the file is truncated
//
// A chunk of keys is a sequence of records, each a list of unsigned varints (encoding/binary) and bytes:
//
//	key length, key, value length, value, create revision, mod revision, version, lease
//
// Revisions, version and lease are 0 if the origin has none. A lease is written as the two's complement of an
// int64.
const (
	// BundleFormat is the "format" of every manifest.
	BundleFormat = "kitescope-bundle"
	// BundleVersion is the version that is written, and the newest that is read.
	BundleVersion = 1

	manifestName = "manifest.json"
	endName      = "end.json"
	keysPrefix   = "keys/"

	// chunkTarget is the size at which a chunk of keys ends, maxChunk the maximum size that a reader accepts. A
	// chunk holds at least one record of any size.
	chunkTarget = 4 << 20
	maxChunk    = 128 << 20
	// maxValue bounds one value. etcd accepts requests of 1.5 MiB by default, and of a few MiB if configured.
	maxValue = 8 << 20
	// maxJSON bounds manifest.json and end.json.
	maxJSON = 16 << 20
)

// Manifest describes the content and the origin of a bundle.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Kitescope is the version of the program that wrote the bundle.
	Kitescope string `json:"kitescope"`
	Origin    Origin `json:"origin"`
	Root      string `json:"root"`
	MetaPath  string `json:"meta_path"`
	// Revision is the revision of etcd, or 0 if the origin does not have it.
	Revision int64 `json:"revision,string"`
	// Taken is the time of the state, or zero if unknown.
	Taken time.Time `json:"taken"`
	// FileDate reports whether Taken is only the date of the file from which the bundle was made.
	FileDate bool `json:"taken_is_file_date,omitempty"`
	// ByClock reports whether Taken is from the clock of the machine that read a live etcd.
	ByClock bool `json:"taken_by_clock,omitempty"`
	// Redacted reports whether credentials and other secrets were removed from the values.
	Redacted bool `json:"redacted"`
	// Omitted holds the key ranges that this kind of origin omits.
	Omitted []Range `json:"lacks,omitempty"`
	// History describes further revisions in the bundle; nil means none. It was added without a new version,
	// because older readers still read the keys correctly. The keys match Revision and Taken.
	History *ManifestHistory `json:"history,omitempty"`
}

// bundleEnd is the last member of a bundle.
type bundleEnd struct {
	Keys int64 `json:"keys,string"`
	// Bytes is the total size of keys and values.
	Bytes  int64         `json:"bytes,string"`
	Chunks []bundleChunk `json:"chunks"`
	// Gaps holds the parts that the origin could not read.
	Gaps []Gap `json:"gaps,omitempty"`
}

// bundleChunk holds the number of keys and the checksum of a member with keys.
type bundleChunk struct {
	Name   string `json:"name"`
	Keys   int64  `json:"keys"`
	SHA256 string `json:"sha256"`
}

// BundleStats holds the totals of a written bundle.
type BundleStats struct {
	// Keys is the number of written keys, Dropped the number of keys that the transform dropped.
	Keys, Dropped int64
	// Bytes is the total size of keys and values, before compression.
	Bytes int64
	// Past holds the totals of other revisions.
	Past PastStats
}

// appendRecord appends the encoding of a key to b.
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

// eachRecord yields the records of a chunk. They are slices of b.
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

// parseManifest parses and validates a manifest.
func parseManifest(location string, b []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil || m.Format != BundleFormat {
		return m,
			hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle", location)
	}
	if m.Version < 1 || m.Version > BundleVersion {
		return m,
			hints.Errorf("update kitescope", "read %s: bundle version %d; this kitescope reads up to %d", location,
				m.Version, BundleVersion)
	}
	if m.Root == "" || m.MetaPath == "" {
		return m, fmt.Errorf("read %s: the bundle has no root", location)
	}
	return m, nil
}
