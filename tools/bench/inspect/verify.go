package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kitescope/tools/bench/metagen"
)

// segmentCounts holds the counts by which a listing of segments is checked.
type segmentCounts struct {
	segments, sized, indexed int
}

// verify compares the listing that is about to be measured with the generated data: all segments, the sizes
// of those with logs, and the index states of those with an index. A fast but wrong listing does not count.
func (b *bench) verify(ctx context.Context, shape metagen.Shape, from string) error {
	var got segmentCounts
	_, err := b.runner.RunToReader(ctx, b.program("get", "segments", "-o", "json", "--from", from),
		func(r io.Reader) (err error) {
			got, err = countSegments(bufio.NewReaderSize(r, 1<<20))
			return err
		})
	if err != nil {
		return fmt.Errorf("list segments of %s: %w", from, err)
	}
	want := segmentCounts{segments: shape.Segments, sized: shape.WithLogs, indexed: shape.WithIndex}
	// Segments without a record of an index build have a state too, so the count is a minimum.
	if got.segments != want.segments || got.sized != want.sized || got.indexed < want.indexed {
		return fmt.Errorf("list segments of %s: found %+v, generated %+v", from, got, want)
	}
	return nil
}

// countSegments reads a SegmentList item by item.
func countSegments(r io.Reader) (n segmentCounts, err error) {
	d := json.NewDecoder(r)
	for {
		token, err := d.Token()
		if err != nil {
			return n, fmt.Errorf("no items: %w", err)
		}
		if token == "items" {
			break
		}
	}
	if _, err := d.Token(); err != nil { // the opening bracket
		return n, err
	}
	for d.More() {
		var s struct {
			ID         string      `json:"id"`
			SizeBytes  json.Number `json:"size_bytes"`
			IndexState string      `json:"index_state"`
		}
		if err := d.Decode(&s); err != nil {
			return n, err
		}
		if s.ID == "" {
			return n, errors.New("a segment without an id")
		}
		n.segments++
		if s.SizeBytes != "" && s.SizeBytes != "0" {
			n.sized++
		}
		if s.IndexState != "" {
			n.indexed++
		}
	}
	return n, nil
}
