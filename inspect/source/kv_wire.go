package source

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// errNoKeyValue reports bytes that are not an mvccpb.KeyValue.
var errNoKeyValue = errors.New("not a key-value record")

// parseKeyValue decodes an mvccpb.KeyValue (etcd api/v3/mvccpb/kv.proto) without copying: Key and Value of
// the result are slices of b. It skips unknown fields. Fields must be in ascending order without repetition,
// as etcd writes them, because the bytes after a key with a wrong length do not form such fields.
func parseKeyValue(b []byte) (KV, error) {
	var kv KV
	last := protowire.Number(0)
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || num <= last {
			return KV{}, errNoKeyValue
		}
		b, last = b[n:], num
		switch {
		case typ == protowire.BytesType && (num == 1 || num == 5):
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return KV{}, errNoKeyValue
			}
			if b = b[n:]; num == 1 {
				kv.Key = v
			} else {
				kv.Value = v
			}
		case typ == protowire.VarintType && num >= 2 && num <= 6:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return KV{}, errNoKeyValue
			}
			b = b[n:]
			setKeyValueInt(&kv, num, int64(v))
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return KV{}, errNoKeyValue
			}
			b = b[n:]
		}
	}
	if len(kv.Key) == 0 {
		return KV{}, errNoKeyValue
	}
	return kv, nil
}

func setKeyValueInt(kv *KV, num protowire.Number, v int64) {
	switch num {
	case 2:
		kv.CreateRevision = v
	case 3:
		kv.ModRevision = v
	case 4:
		kv.Version = v
	case 6:
		kv.Lease = v
	}
}

// keyOf returns the key of an encoded mvccpb.KeyValue. It rarely decodes more than the key, because etcd writes
// field 1 first.
func keyOf(b []byte) ([]byte, error) {
	num, typ, n := protowire.ConsumeTag(b)
	if n > 0 && num == 1 && typ == protowire.BytesType {
		if key, m := protowire.ConsumeBytes(b[n:]); m >= 0 && len(key) > 0 {
			return key, nil
		}
	}
	kv, err := parseKeyValue(b)
	return kv.Key, err
}
