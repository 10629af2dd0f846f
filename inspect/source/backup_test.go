package source_test

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/source"
)

// frame appends one frame of a birdwatcher backup.
func frame(b, content []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	return append(b, content...)
}

func bytesField(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func varintField(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// backupV1 is a backup as birdwatcher wrote it before December 2022: there is no
// capture of one, so it is built after birdwatcher's states/etcd_backup.go of
// commit 1b01725's parent.
func backupV1(keys []source.KV) []byte {
	h := varintField(nil, 1, 1)
	h = bytesField(h, 2, []byte("by-dev"))
	h = bytesField(h, 3, []byte("meta"))
	h = varintField(h, 4, uint64(len(keys)))
	out := frame(nil, h)
	for _, kv := range keys {
		out = frame(out, bytesField(bytesField(nil, 1, kv.Key), 2, kv.Value))
	}
	return out
}
