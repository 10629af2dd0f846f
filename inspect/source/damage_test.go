// This file has no concurrency. The race detector would find nothing and take up to ten times as long.

//go:build !race

package source_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/source"
	"kitescope/internal/damagetest"
)

// readDamaged returns all keys of a source. A reported gap counts as an error.
func readDamaged(t *testing.T, file []byte) (string, error) {
	t.Helper()
	src, err := source.Open(t.Context(), "-", source.Options{Stdin: bytes.NewReader(file)})
	if err != nil {
		return "", err
	}
	defer func() { _ = src.Close() }()
	snap, err := src.Pin(t.Context())
	if err != nil {
		return "", err
	}
	defer func() { _ = snap.Close() }()
	keys, err := collect(t.Context(), snap)
	if gaps := snap.Gaps(); err == nil && len(gaps) > 0 {
		err = errors.New(gaps[0].Reason)
	}
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(&b, "%s=%s\n", key, keys[key])
	}
	return b.String(), err
}

// TestDamagedBolt changes the counts and lengths of pages, of their elements and of the records in them.
func TestDamagedBolt(t *testing.T) {
	for _, size := range []int{1024, 4096} {
		changes, _ := history(200)
		file := readFile(t, backend(t, &bolt.Options{PageSize: size}, changes))
		var fields []damagetest.Field
		for at := 2 * size; at+size <= len(file); at += size {
			flags, count := binary.LittleEndian.Uint16(file[at+8:]), int(binary.LittleEndian.Uint16(file[at+10:]))
			if flags != 1 && flags != 2 {
				continue // a meta page, the free list, or an overflow page
			}
			fields = append(fields, damagetest.Little(file, "count of a page", at+10, 2),
				damagetest.Little(file, "overflow", at+12, 4))
			for i := range min(count, size/16) {
				e := at + 16 + 16*i
				if flags == 1 {
					fields = append(fields, damagetest.Little(file, "key offset of a branch", e, 4))
					continue
				}
				for j, name := range []string{"key offset", "key size", "value size"} {
					fields = append(fields, damagetest.Little(file, name, e+4+4*j, 4))
				}
				value := e + int(binary.LittleEndian.Uint32(file[e+4:])+binary.LittleEndian.Uint32(file[e+8:]))
				if value < len(file) && file[value] == 0x0a {
					fields = append(fields, damagetest.Varint(file, "length of a key", value+1))
				}
			}
		}
		damagetest.Run(t, file, fields, damagetest.Count(), func(b []byte) (string, error) { return readDamaged(t, b) })
	}
}

// backupV2 returns the keys in the format of birdwatcher since December 2022.
func backupV2(keys []source.KV) []byte {
	out := frame(nil, varintField(nil, 1, 2))
	extra := fmt.Sprintf(`{"instance":"by-dev","metaPath":"meta","cnt":"%d","rev":"77"}`, len(keys))
	out = frame(out, bytesField(varintField(nil, 1, 1), 3, []byte(extra)))
	for _, kv := range keys {
		out = frame(out, bytesField(bytesField(nil, 1, kv.Key), 2, kv.Value))
	}
	return frame(out, nil)
}

// TestDamagedBackup changes the lengths of frames and of their fields, and the number of keys.
func TestDamagedBackup(t *testing.T) {
	var keys []source.KV
	for i := range 40 {
		keys = append(keys, source.KV{
			Key: fmt.Appendf(nil, "by-dev/meta/session/%02d", i), Value: bytes.Repeat([]byte("v"), i*i%300),
		})
	}
	for name, file := range map[string][]byte{"v1": backupV1(keys), "v2": backupV2(keys)} {
		t.Run(name, func(t *testing.T) {
			var fields []damagetest.Field
			for at := 0; at < len(file); {
				n := int(binary.LittleEndian.Uint64(file[at:]))
				fields = append(fields, damagetest.Little(file, "length of a frame", at, 8))
				for in := at + 8; in < at+8+n; {
					num, typ, tag := protowire.ConsumeTag(file[in:])
					if typ == protowire.BytesType || num == 4 {
						fields = append(fields, damagetest.Varint(file, "length of a field", in+tag))
					}
					in += tag + protowire.ConsumeFieldValue(num, typ, file[in+tag:])
				}
				at += 8 + n
			}
			damagetest.Run(t, file, fields, damagetest.Count(), func(b []byte) (string, error) {
				return readDamaged(t, b)
			})
		})
	}
}

// unpack returns the archive of a bundle, and a function that compresses a changed archive.
func unpack(t *testing.T, packed []byte) (file []byte, pack func([]byte) []byte) {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if file, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	return file, func(b []byte) []byte { return e.EncodeAll(b, nil) }
}

// sizesOf returns the sizes of the members of an archive, with the checksums of their headers.
func sizesOf(t *testing.T, file []byte) (fields []damagetest.Field) {
	t.Helper()
	in := bytes.NewReader(file)
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fields
		}
		if err != nil {
			t.Fatal(err)
		}
		at := len(file) - in.Len() - 512
		fields = append(fields, damagetest.Field{
			Name: h.Name, At: at, Len: 512, Value: uint64(h.Size),
			Put: func(v uint64) []byte {
				b := bytes.Clone(file[at : at+512])
				copy(b[124:], fmt.Sprintf("%011o", v&(1<<33-1)))
				copy(b[148:], "        ")
				sum := 0
				for _, c := range b {
					sum += int(c)
				}
				copy(b[148:], fmt.Sprintf("%06o\x00", sum))
				return b
			},
		})
	}
}

// TestDamagedBundle changes the sizes of the members of a bundle.
func TestDamagedBundle(t *testing.T) {
	src := open(t, filepath.Join(snapshots, "standalone-2.3.5", "birdwatcher_backup.bak.gz"), source.Options{})
	defer src.Close()
	file, pack := unpack(t, bundleOf(t, src))
	damagetest.Run(t, file, sizesOf(t, file), damagetest.Count()/10, func(b []byte) (string, error) {
		return readDamaged(t, pack(b))
	})
}

// TestDamagedRecording changes a closed chunk of a recording: the sizes of its members and the lengths of its
// initial keys. With a correct checksum of the member, it also changes the number of initial keys and the
// revisions of changes.
func TestDamagedRecording(t *testing.T) {
	changes, _ := history(200)
	src := open(t, backend(t, nil, changes), source.Options{})
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	chunk, _ := chunkOf(t, past, pin(t, src).Header(), 101, 201, true) // the last member has one revision
	file, pack := unpack(t, chunk)
	fields := sizesOf(t, file)
	for _, member := range slices.Clone(fields) {
		at, n := member.At+512, int(member.Value)
		switch {
		case strings.HasPrefix(member.Name, "keys/"):
			for end := at + n; at < end; {
				for _, name := range []string{"length of a key", "length of a value"} {
					f := damagetest.Varint(file, name, at)
					fields = append(fields, f)
					at += f.Len + int(f.Value)
				}
				for range 4 {
					at += damagetest.Varint(file, "", at).Len
				}
			}
		case member.Name == "history/base":
			fields = append(fields, sealed(file, at, n, 0))
		case strings.HasPrefix(member.Name, "history/changes/"):
			fields = append(fields, sealed(file, at, n, 0), sealed(file, at, n, 1))
		}
	}
	damagetest.Run(t, file, fields, damagetest.Count()/4, func(b []byte) (string, error) {
		return readDamaged(t, pack(b))
	})
}

// sealed returns the i-th number after the time of a sealed member, together with its checksum.
func sealed(file []byte, at, n, i int) damagetest.Field {
	from, to := at, at
	for range i + 2 {
		_, used := binary.Uvarint(file[to:])
		from, to = to, to+used
	}
	value, _ := binary.Uvarint(file[from:])
	return damagetest.Field{Name: "a number of history", At: at, Len: n, Value: value, Put: func(v uint64) []byte {
		b := slices.Concat(file[at:from], binary.AppendUvarint(nil, v), file[to:at+n-crc32.Size])
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}}
}
