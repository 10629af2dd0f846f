package source

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The generated client allocates for each key when it decodes a RangeResponse and copies every byte twice,
// which costs more than etcd needs to send it. Therefore Range and Watch use a custom codec that keeps the
// bytes, and page decodes the message in place.

// errBadPage reports a Range response that is not a valid message.
var errBadPage = errors.New("malformed range response")

// page is one encoded RangeResponse (etcd api/v3/etcdserverpb/rpc.proto). Its fields are 1 header, 2 kvs, 3
// more and 4 count.
type page struct {
	raw      []byte
	revision int64
	more     bool
	keys     int
	lastKey  string // "" without keys
}

// parsePage decodes all fields except the key-values.
func parsePage(raw []byte) (page, error) {
	p := page{raw: raw}
	var last []byte
	var count int64 // keys of this page and the following ones
	ok := eachField(raw, func(num protowire.Number, v uint64, data []byte) {
		switch num {
		case 1:
			p.revision = headerRevision(data)
		case 2:
			last = data
			p.keys++
		case 3:
			p.more = v != 0
		case 4:
			count = int64(v)
		}
	})
	switch {
	case !ok:
		return p, errBadPage
	case count < int64(p.keys) || p.more != (count > int64(p.keys)):
		return p, fmt.Errorf("%w: %d keys, of %d (more: %v)", errBadPage, p.keys, count, p.more)
	}
	if p.keys > 0 {
		key, err := keyOf(last)
		if err != nil {
			return p, err
		}
		p.lastKey = string(key)
	}
	return p, nil
}

// each yields the key-values in order. Their keys and values are slices of the page.
func (p *page) each(yield func(KV) error) error {
	var err error
	eachField(p.raw, func(num protowire.Number, _ uint64, data []byte) {
		if num != 2 || err != nil {
			return
		}
		var kv KV
		if kv, err = parseKeyValue(data); err == nil {
			err = yield(kv)
		}
	})
	return err
}

// wireCodec is the grpc codec that decodes pages and watch messages.
type wireCodec struct{}

// Name returns the content subtype that etcd expects.
func (wireCodec) Name() string { return "proto" }

// Marshal encodes a request.
func (wireCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("encode %T: not a protobuf message", v)
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal decodes a response into a *page or a *watchMessage, which have their own copy of the bytes.
func (wireCodec) Unmarshal(data mem.BufferSlice, v any) (err error) {
	switch m := v.(type) {
	case *page:
		*m, err = parsePage(data.Materialize())
	case *watchMessage:
		*m, err = parseWatch(data.Materialize())
	default:
		err = fmt.Errorf("decode %T: neither a page nor a watch message", v)
	}
	return err
}
