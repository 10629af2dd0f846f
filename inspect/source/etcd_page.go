package source

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The generated client decodes a RangeResponse into one allocation per key and
// copies every byte twice, which costs more than etcd needs to send it. So Range
// is called with a codec of our own: it keeps the buffers that grpc read from the
// wire, and page walks the message in them, in place.

// errBadPage says that a Range response is no valid message.
var errBadPage = errors.New("malformed range response")

// page is one RangeResponse (etcd api/v3/etcdserverpb/rpc.proto) as it came from
// the wire: field 1 header, 2 kvs, 3 more, 4 count.
type page struct {
	data mem.BufferSlice
	// bufs are the contents of data.
	bufs [][]byte
	size int

	revision int64
	more     bool
	keys     int
	// lastKey is a copy of the last key, "" if there is none.
	lastKey string
}

// newPage wraps data and reads all but the key-values.
func newPage(data mem.BufferSlice) (*page, error) {
	p := &page{data: data, bufs: make([][]byte, len(data))}
	for i, b := range data {
		p.bufs[i] = b.ReadOnlyData()
		p.size += b.Len()
	}
	return p, p.index()
}

// free gives the buffers back to grpc. No KV of the page may be used after it.
func (p *page) free() {
	p.data.Free()
	p.data, p.bufs = nil, nil
}

// index reads the fields beside the key-values, and the last key.
func (p *page) index() error {
	var last walker
	w := walker{bufs: p.bufs}
	for {
		num, typ, err := w.tag()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case num == 2 && typ == protowire.BytesType:
			n, err := w.length()
			if err != nil {
				return err
			}
			last, last.left = w, n
			p.keys++
			if err := w.skip(n); err != nil {
				return err
			}
		case num == 1 && typ == protowire.BytesType:
			if err := p.readHeader(&w); err != nil {
				return err
			}
		case num == 3 && typ == protowire.VarintType:
			v, err := w.varint()
			if err != nil {
				return err
			}
			p.more = v != 0
		default:
			if err := w.skipField(typ); err != nil {
				return err
			}
		}
	}
	return p.readLastKey(last)
}

func (p *page) readLastKey(last walker) error {
	if p.keys == 0 {
		return nil
	}
	body, err := last.take(last.left)
	if err != nil {
		return err
	}
	key, err := keyOf(body)
	p.lastKey = string(key)
	return err
}

// readHeader reads ResponseHeader.revision, field 3.
func (p *page) readHeader(w *walker) error {
	n, err := w.length()
	if err != nil {
		return err
	}
	body, err := w.take(n)
	if err != nil {
		return err
	}
	for len(body) > 0 {
		num, typ, n := protowire.ConsumeTag(body)
		if n < 0 {
			return errBadPage
		}
		m := protowire.ConsumeFieldValue(num, typ, body[n:])
		if m < 0 {
			return errBadPage
		}
		if num == 3 && typ == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(body[n:])
			p.revision = int64(v)
		}
		body = body[n+m:]
	}
	return nil
}

// each yields the key-values in order. They are valid until yield returns.
func (p *page) each(yield func(KV) error) error {
	w := walker{bufs: p.bufs}
	for {
		num, typ, err := w.tag()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if num != 2 || typ != protowire.BytesType {
			if err := w.skipField(typ); err != nil {
				return err
			}
			continue
		}
		n, err := w.length()
		if err != nil {
			return err
		}
		body, err := w.take(n)
		if err != nil {
			return err
		}
		kv, err := parseKeyValue(body)
		if err != nil {
			return err
		}
		if err := yield(kv); err != nil {
			return err
		}
	}
}

// walker reads protobuf wire format from a chain of buffers.
type walker struct {
	bufs [][]byte
	// pos is the place in bufs[0].
	pos int
	// spill holds a field that spans buffers; it is reused.
	spill []byte
	// left is scratch space of page.index.
	left int
}

// rest is what is left of the current buffer; nil at the end of all.
func (w *walker) rest() []byte {
	for len(w.bufs) > 0 {
		if w.pos < len(w.bufs[0]) {
			return w.bufs[0][w.pos:]
		}
		w.bufs, w.pos = w.bufs[1:], 0
	}
	return nil
}

func (w *walker) varint() (uint64, error) {
	if b := w.rest(); len(b) > 0 && b[0] < 0x80 {
		w.pos++
		return uint64(b[0]), nil
	}
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := w.rest()
		if len(b) == 0 {
			if shift == 0 {
				return 0, io.EOF
			}
			return 0, errBadPage
		}
		w.pos++
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, errBadPage
}

// tag reads a field tag; io.EOF means that the message ended before it.
func (w *walker) tag() (protowire.Number, protowire.Type, error) {
	v, err := w.varint()
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(v)
	if num < protowire.MinValidNumber {
		return 0, 0, errBadPage
	}
	return num, typ, nil
}

// length reads the length of a field of bytes.
func (w *walker) length() (int, error) {
	v, err := w.varint()
	if err != nil || v > 1<<31 {
		return 0, errBadPage
	}
	return int(v), nil
}

// take returns the next n bytes, valid until the next take.
func (w *walker) take(n int) ([]byte, error) {
	if b := w.rest(); len(b) >= n {
		w.pos += n
		return b[:n], nil
	}
	w.spill = w.spill[:0]
	for len(w.spill) < n {
		b := w.rest()
		if len(b) == 0 {
			return nil, errBadPage
		}
		b = b[:min(len(b), n-len(w.spill))]
		w.spill = append(w.spill, b...)
		w.pos += len(b)
	}
	return w.spill, nil
}

func (w *walker) skip(n int) error {
	for n > 0 {
		b := w.rest()
		if len(b) == 0 {
			return errBadPage
		}
		step := min(n, len(b))
		w.pos += step
		n -= step
	}
	return nil
}

func (w *walker) skipField(typ protowire.Type) error {
	switch typ {
	case protowire.VarintType:
		if _, err := w.varint(); err != nil {
			return errBadPage
		}
		return nil
	case protowire.BytesType:
		n, err := w.length()
		if err != nil {
			return err
		}
		return w.skip(n)
	case protowire.Fixed32Type:
		return w.skip(4)
	case protowire.Fixed64Type:
		return w.skip(8)
	}
	return errBadPage
}

// pageCodec is the grpc codec that yields pages.
type pageCodec struct{}

// Name is the content subtype that etcd expects.
func (pageCodec) Name() string { return "proto" }

// Marshal encodes a request.
func (pageCodec) Marshal(v any) (mem.BufferSlice, error) {
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

// Unmarshal keeps the buffers of a response in a *page.
func (pageCodec) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*page)
	if !ok {
		return fmt.Errorf("decode %T: not a page", v)
	}
	data.Ref()
	kept, err := newPage(data)
	if err != nil {
		data.Free()
		return err
	}
	*p = *kept
	return nil
}
