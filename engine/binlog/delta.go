package binlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// Deltas holds deleted primary keys, in the order of the logs. One of the key slices is filled.
type Deltas struct {
	Descriptor // of the first log; zero for a parquet file without events
	Int64s     []int64
	Strings    []string
	// Timestamps holds Milvus hybrid timestamps. Row i is deleted for reads at or after Timestamps[i], if it was
	// inserted before (internal/querynodev2/delegator).
	Timestamps []uint64
}

// ReadDeltas reads the delta logs of a segment, in any form that Milvus has written: text "pk,ts" (2.0), JSON
// {"pk","ts","pkType"} (since 2.1), or two parquet columns, either in an event file (since 2.4, extras version
// MULTI_FIELD) or in a plain parquet file (2.6).
func ReadDeltas(ctx context.Context, store object.Store, names []string) (*Deltas, error) {
	all := &Deltas{}
	for i, name := range SortLogs(names) {
		r, err := store.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		d, err := ReadDelta(ctx, r, name)
		_ = r.Close()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all.Descriptor = d.Descriptor
		}
		all.Int64s = append(all.Int64s, d.Int64s...)
		all.Strings = append(all.Strings, d.Strings...)
		all.Timestamps = append(all.Timestamps, d.Timestamps...)
		if len(all.Int64s) > 0 && len(all.Strings) > 0 {
			return nil, fmt.Errorf("read %s: keys differ in type from those of earlier logs", name)
		}
	}
	return all, nil
}

// ReadDelta reads one delta log. Errors contain name.
func ReadDelta(ctx context.Context, r object.Reader, name string) (*Deltas, error) {
	if plain, err := isParquet(r); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	} else if plain {
		file, err := parquet.ReadFooter(r, 0, r.Size())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		d := &Deltas{}
		return d, d.columns(ctx, name, file)
	}
	l, err := openLog(r, name)
	if err != nil {
		return nil, err
	}
	d := &Deltas{Descriptor: *l.Descriptor}
	for _, file := range l.parts {
		if len(file.Leaves) == 2 || l.Extras["version"] == "MULTI_FIELD" {
			err = d.columns(ctx, name, file)
		} else {
			err = d.texts(ctx, name, file)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// columns reads a parquet file with the columns pk and ts.
func (d *Deltas) columns(ctx context.Context, name string, file *parquet.File) error {
	if len(file.Leaves) != 2 {
		return fmt.Errorf("read %s: expected the columns pk and ts, found %d columns", name, len(file.Leaves))
	}
	pk, ts := Column{Descriptor: Descriptor{Type: Int64}}, Column{Descriptor: Descriptor{Type: Int64}}
	if file.Leaves[0].Physical == parquet.ByteArray {
		pk.Type = VarChar
	}
	if err := pk.read(ctx, []source{{name, file, 0}}); err != nil {
		return err
	}
	if err := ts.read(ctx, []source{{name, file, 1}}); err != nil {
		return err
	}
	if pk.Valid != nil || ts.Valid != nil {
		return fmt.Errorf("read %s: a deleted key or its timestamp is null", name)
	}
	if err := checkTextSize(name, file, pk.Strings); err != nil {
		return err
	}
	d.Int64s, d.Strings = append(d.Int64s, pk.Int64s...), append(d.Strings, pk.Strings...)
	for _, t := range ts.Int64s {
		d.Timestamps = append(d.Timestamps, uint64(t))
	}
	return nil
}

// checkEvery is the number of keys between checks of the context.
const checkEvery = 1 << 10

// checkTextSize returns an error if the total length of the keys far exceeds the size of the file. This is possible
// because a dictionary stores a text once, while any number of rows may refer to it.
func checkTextSize(name string, file *parquet.File, texts []string) error {
	most, total := columnFloor+columnRatio*file.Size, int64(0)
	for i, text := range texts {
		if total += int64(len(text)); total > most {
			return fmt.Errorf("read %s: row %d of %d: more than %d bytes of keys in a file of %d", name, i, len(texts),
				most, file.Size)
		}
	}
	return nil
}

// texts reads a parquet file whose only column has one text per deleted key.
func (d *Deltas) texts(ctx context.Context, name string, file *parquet.File) error {
	if len(file.Leaves) != 1 {
		return fmt.Errorf("read %s: expected one column of strings, found %d", name, len(file.Leaves))
	}
	texts := Column{Descriptor: Descriptor{Type: String}}
	if err := texts.read(ctx, []source{{name, file, 0}}); err != nil {
		return err
	}
	if err := checkTextSize(name, file, texts.Strings); err != nil {
		return err
	}
	for i, text := range texts.Strings {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.add(text); err != nil {
			return fmt.Errorf("read %s: row %d: expected a deleted key, found %s: %w", name, i, parquet.Quote(text),
				err)
		}
	}
	if len(d.Int64s) > 0 && len(d.Strings) > 0 {
		return fmt.Errorf("read %s: keys of two types", name)
	}
	return nil
}

func (d *Deltas) add(text string) error {
	if !strings.HasPrefix(text, "{") {
		pk, ts, _ := strings.Cut(text, ",")
		key, err := strconv.ParseInt(pk, 10, 64)
		if err != nil {
			return err
		}
		t, err := strconv.ParseUint(ts, 10, 64)
		if err != nil {
			return err
		}
		d.Int64s, d.Timestamps = append(d.Int64s, key), append(d.Timestamps, t)
		return nil
	}
	var entry struct {
		PK json.RawMessage `json:"pk"`
		TS *uint64         `json:"ts"`
	}
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		return err
	}
	if entry.TS == nil {
		return errors.New("it has no ts")
	}
	if len(entry.PK) > 0 && entry.PK[0] == '"' {
		var key string
		if err := json.Unmarshal(entry.PK, &key); err != nil {
			return err
		}
		d.Strings = append(d.Strings, key)
	} else {
		key, err := strconv.ParseInt(string(entry.PK), 10, 64)
		if err != nil {
			return err
		}
		d.Int64s = append(d.Int64s, key)
	}
	d.Timestamps = append(d.Timestamps, *entry.TS)
	return nil
}

// isParquet reports whether the file is plain parquet rather than a file of events.
func isParquet(r object.Reader) (bool, error) {
	var b [4]byte
	if err := parquet.ReadAt(r, b[:], 0); err != nil {
		return false, err
	}
	return string(b[:]) == "PAR1", nil
}
