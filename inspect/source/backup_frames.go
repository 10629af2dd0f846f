package source

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// The format of a birdwatcher backup, after github.com/milvus-io/birdwatcher: models/model.proto (BackupHeader,
// PartHeader), states/etcd_backup.go and states/kv/kv.go (writers), states/etcd_restore.go (reader). It is a
// gzip stream of frames. A frame is a length (8 bytes, little-endian) followed by that number of bytes.
//
//	v1  BackupHeader{version 1, instance, meta_path, entries}, then one
//	    commonpb.KeyDataPair{key, data} a frame up to the end of the file
//	v2  BackupHeader{version 2}, then parts: PartHeader{type, extra}, frames, and an
//	    empty frame as a stopper. Type 1 holds the KeyDataPairs, its extra is JSON
//	    {"instance","metaPath","cnt","rev"}; the others hold metrics and
//	    configuration of the processes and are skipped.
//
// birdwatcher writes the keys first, so the content after their stopper is not read. The stopper of a metrics
// part is ambiguous, because an empty document is an empty frame too.
const (
	backupV1 = 1
	backupV2 = 2

	partEtcd = 1

	// maxFrame bounds one frame. The largest frames are values of etcd (a few MiB) and metrics pages.
	maxFrame = 256 << 20
	// maxHeader bounds the first frame, which identifies a backup.
	maxHeader = 4 << 10
)

// backupHeader is the BackupHeader of birdwatcher.
type backupHeader struct {
	version            int64
	instance, metaPath string
	entries            int64
}

func parseBackupHeader(b []byte) (backupHeader, bool) {
	var h backupHeader
	ok := eachField(b, func(num protowire.Number, v uint64, data []byte) {
		switch num {
		case 1:
			h.version = int64(v)
		case 2:
			h.instance = string(data)
		case 3:
			h.metaPath = string(data)
		case 4:
			h.entries = int64(v)
		}
	})
	return h, ok && h.version > 0 && h.version < 1<<16
}

// eachField calls visit for each varint or bytes field of a message, with v for varints and data for bytes. It
// reports whether b is well-formed.
func eachField(b []byte, visit func(num protowire.Number, v uint64, data []byte)) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return false
		}
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b[n:])
			visit(num, v, nil)
		case protowire.BytesType:
			data, _ := protowire.ConsumeBytes(b[n:])
			visit(num, 0, data)
		}
		b = b[n+m:]
	}
	return true
}

// isBackupHead reports whether head starts with the first frame of a backup.
func isBackupHead(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 2 || n > maxHeader || uint64(len(head)) < 8+n {
		return false
	}
	_, ok := parseBackupHeader(head[8 : 8+n])
	return ok
}

// frames reads the frames of a backup.
type frames struct {
	r *bufio.Reader
	// count is the number of frames read.
	count int64
	buf   []byte
	meter *meter
}

// next returns the next frame, valid until the next call. It returns io.EOF if the input ends between two
// frames.
func (f *frames) next() ([]byte, error) {
	var size [8]byte
	if _, err := io.ReadFull(f.r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxFrame {
		return nil, fmt.Errorf("record %d claims to have %d bytes", f.count+1, n)
	}
	// A short file can decompress to an unlimited number of frames, and even empty frames take time.
	if err := f.meter.add(1, int(n)); err != nil {
		return nil, err
	}
	// Grow the buffer only as bytes arrive, because the length may be wrong.
	f.buf = f.buf[:0]
	for uint64(len(f.buf)) < n {
		step := int(min(n-uint64(len(f.buf)), 1<<20))
		at := len(f.buf)
		f.buf = append(f.buf, make([]byte, step)...)
		if _, err := io.ReadFull(f.r, f.buf[at:]); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
	}
	f.count++
	return f.buf, nil
}

func newFrameReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 256<<10) }
