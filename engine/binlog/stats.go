package binlog

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// PKStats is what a stats log says of the primary keys of a segment or of one insert log.
type PKStats struct {
	Field                int64
	Type                 Type // Int64 or VarChar
	MinInt64, MaxInt64   int64
	MinString, MaxString string
	Bloom                *Bloom // nil if the filter is of another kind than these
}

// Bloom is a Bloom filter, decoded but not asked: bits-and-blooms' (murmur3) or, if Blocks is
// set, blobloom's of 512-bit blocks.
type Bloom struct {
	Bits   uint64
	Hashes int
	Words  []uint64
	Blocks bool
}

// maxStats bounds a stats log, which is read whole: the filters of 100,000,000 keys take some 120 MB, and a third more as text.
const maxStats = 256 << 20

// ReadStats reads a stats log: JSON of one object, JSON of a list (the compound log of a
// segment, log id 1, since 2.2), or the binary form "mpkstats" of later versions
// (internal/storage/stats.go).
func ReadStats(r object.Reader, name string) ([]PKStats, error) {
	if r.Size() > maxStats {
		return nil, fmt.Errorf("read %s: expected statistics of at most %d bytes, found %d", name, maxStats, r.Size())
	}
	b := make([]byte, r.Size())
	if err := parquet.ReadAt(r, b, 0); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	stats, err := parseStats(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return stats, nil
}

func parseStats(b []byte) ([]PKStats, error) {
	if bytes.HasPrefix(b, []byte("mpkstats")) {
		return parseBinaryStats(b)
	}
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '[' {
		return parseStatsList(b)
	}
	var s jsonStats
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	stats, err := s.decode()
	if err != nil {
		return nil, fmt.Errorf("entry 0: %w", err)
	}
	return []PKStats{stats}, nil
}

// parseStatsList decodes an entry at a time: a list of "{}" would take fifty times what it takes as text.
func parseStatsList(b []byte) ([]PKStats, error) {
	if !json.Valid(b) {
		var list []struct{}
		return nil, json.Unmarshal(b, &list) // which says where
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var stats []PKStats
	for d.More() {
		var s jsonStats
		var one PKStats
		err := d.Decode(&s)
		if err == nil {
			one, err = s.decode()
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(stats), err)
		}
		stats = append(stats, one)
	}
	return stats, nil
}

// jsonStats has min and max of 2.0 beside minPk and maxPk of later versions, as Milvus does.
type jsonStats struct {
	FieldID *int64          `json:"fieldID"`
	Max     int64           `json:"max"`
	Min     int64           `json:"min"`
	PKType  Type            `json:"pkType"`
	MaxPK   json.RawMessage `json:"maxPk"`
	MinPK   json.RawMessage `json:"minPk"`
	BF      json.RawMessage `json:"bf"`
}

func (s jsonStats) decode() (PKStats, error) {
	if s.FieldID == nil {
		return PKStats{}, errors.New("expected statistics of a primary key, found no fieldID")
	}
	p := PKStats{Field: *s.FieldID, Type: s.PKType, MinInt64: s.Min, MaxInt64: s.Max}
	if p.Type == None {
		p.Type = Int64
	}
	var low, high any = &p.MinInt64, &p.MaxInt64
	switch p.Type {
	case Int64:
	case VarChar:
		p.MinInt64, p.MaxInt64 = 0, 0
		low, high = &p.MinString, &p.MaxString
	default:
		return p, fmt.Errorf("a primary key of type %v", p.Type)
	}
	for raw, to := range map[*json.RawMessage]any{&s.MinPK: low, &s.MaxPK: high} {
		if len(*raw) == 0 || string(*raw) == "null" {
			continue
		}
		if err := json.Unmarshal(*raw, to); err != nil {
			return p, fmt.Errorf("a primary key of type %v: %w", p.Type, err)
		}
	}
	var err error
	p.Bloom, err = parseBloom(s.BF)
	return p, err
}

// parseBloom reads the JSON of bits-and-blooms: b is base64 of a bitset, whose length and words
// are big-endian.
func parseBloom(raw json.RawMessage) (*Bloom, error) {
	var filter struct {
		M uint64  `json:"m"`
		K int     `json:"k"`
		B *string `json:"b"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &filter) != nil || filter.M == 0 || filter.B == nil {
		return nil, nil //nolint:nilnil,nilerr // a filter of another kind
	}
	b, err := base64.URLEncoding.DecodeString(*filter.B)
	if err != nil {
		return nil, fmt.Errorf("a Bloom filter that is not base64: %w", err)
	}
	if len(b) < 8 || len(b)%8 != 0 {
		return nil, fmt.Errorf("a Bloom filter of %d bytes", len(b))
	}
	n := binary.BigEndian.Uint64(b)
	words := b[8:]
	if n != filter.M || n > math.MaxInt64-63 || (n+63)/64 != uint64(len(words)/8) || filter.K <= 0 {
		return nil, fmt.Errorf("a Bloom filter of %d bits and %d hashes in %d words for %d bits", n, filter.K, len(words)/8, filter.M)
	}
	f := &Bloom{Bits: n, Hashes: filter.K, Words: make([]uint64, len(words)/8)}
	for i := range f.Words {
		f.Words[i] = binary.BigEndian.Uint64(words[8*i:])
	}
	return f, nil
}

// parseBinaryStats reads a header of 64 bytes and, for each entry, one of 64, the keys if they
// are strings, and blocks of 64.
func parseBinaryStats(b []byte) ([]PKStats, error) {
	le := binary.LittleEndian
	if len(b) < 64 {
		return nil, fmt.Errorf("offset 0: a header of 64 bytes in a file of %d", len(b))
	}
	if v := le.Uint32(b[8:]); v != 1 {
		return nil, fmt.Errorf("offset 8: version %d of binary statistics is not supported", v)
	}
	count, kind, field := le.Uint32(b[12:]), Type(int32(le.Uint32(b[16:]))), int64(int32(le.Uint32(b[20:])))
	if kind != Int64 && kind != VarChar {
		return nil, fmt.Errorf("offset 16: a primary key of type %v", kind)
	}
	var stats []PKStats
	at := 64
	for i := range count {
		if len(b)-at < 64 {
			return nil, fmt.Errorf("offset %d: entry %d of %d needs 64 bytes, %d are left", at, i, count, len(b)-at)
		}
		head := b[at : at+64]
		at += 64
		s := PKStats{Field: field, Type: kind}
		if kind == Int64 {
			s.MinInt64, s.MaxInt64 = int64(le.Uint64(head[8:])), int64(le.Uint64(head[16:]))
		} else {
			size := int64(le.Uint32(head[8:]))
			if size > int64(len(b)-at) {
				return nil, fmt.Errorf("offset %d: keys of %d bytes where %d are left", at, size, len(b)-at)
			}
			keys := b[at : at+int(size)]
			at += int(size)
			var ok bool
			if s.MinString, keys, ok = cutString(keys); ok {
				s.MaxString, _, ok = cutString(keys)
			}
			if !ok {
				return nil, fmt.Errorf("offset %d: keys that do not fit in %d bytes", at-int(size), size)
			}
		}
		blocks := int64(le.Uint32(head))
		if blocks == 0 || blocks > int64(len(b)-at)/64 {
			return nil, fmt.Errorf("offset %d: a Bloom filter of %d blocks where %d bytes are left", at, blocks, len(b)-at)
		}
		f := &Bloom{Bits: uint64(512 * blocks), Hashes: int(le.Uint32(head[4:])), Words: make([]uint64, 8*blocks), Blocks: true}
		for j := range f.Words {
			f.Words[j] = le.Uint64(b[at+8*j:])
		}
		at += int(64 * blocks)
		s.Bloom = f
		stats = append(stats, s)
	}
	return stats, nil
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	if len(b) < 4 {
		return "", nil, false
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > int64(len(b)-4) {
		return "", nil, false
	}
	return string(b[4 : 4+n]), b[4+n:], true
}
