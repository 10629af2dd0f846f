package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kitescope/inspect/model"
)

// targetJSON is a QueryCoordTarget of milvus pkg/util/metricsinfo/metrics_info.go, as
// internal/querycoordv2/meta/target.go (toQueryCoordCollectionTargets) fills it. Unflushed segments are growing
// ones.
type targetJSON struct {
	Collection looseNumber `json:"collection_id"`
	Segments   []struct {
		ID looseNumber `json:"segment_id"`
	} `json:"segments"`
	Channels []struct {
		Unflushed []looseNumber `json:"unflushed_segment_ids"`
	} `json:"dm_channels"`
}

// takeTargets stores the current targets of QueryCoord. It stores all targets or none, because segments
// missing from a partial list would seem unwanted.
func (d *Decoder) takeTargets(q *pendingRecord, text string) error {
	const copies = 3 // in memory of the collection being decoded; of all others only ids are held
	q.weight += copies * int64(len(text))
	if !d.afford(q) {
		return nil
	}
	targets := []model.CurrentTarget{}
	err := eachEntry(text, func(entry json.RawMessage) error {
		var x targetJSON
		if err := json.Unmarshal(entry, &x); err != nil {
			return err
		}
		t, err := x.target()
		targets = append(targets, t)
		return err
	})
	if err != nil {
		return fmt.Errorf("the answer is not a list of %s: %w", q.object, err)
	}
	d.responses.keep(cacheKey(q.key(), q.object), datedResponse{q.At, q.key(), appendTo(targetsOf, targets...)})
	return nil
}

func (x *targetJSON) target() (model.CurrentTarget, error) {
	t := model.CurrentTarget{Collection: model.CollectionID(x.Collection)}
	sound := x.Collection > 0
	for _, s := range x.Segments {
		sound = sound && s.ID > 0
		t.Sealed = append(t.Sealed, model.SegmentID(s.ID))
	}
	for _, c := range x.Channels {
		for _, id := range c.Unflushed {
			sound = sound && id > 0
			t.Growing = append(t.Growing, model.SegmentID(id))
		}
	}
	if !sound {
		return t, errors.New("it names something without an id")
	}
	return t, nil
}

// eachEntry calls visit for each entry of a JSON list, in order.
func eachEntry(text string, visit func(json.RawMessage) error) error {
	entries := json.NewDecoder(strings.NewReader(text))
	if open, err := entries.Token(); err != nil || open != json.Delim('[') {
		return errors.New("it does not begin with [")
	}
	for entries.More() {
		var entry json.RawMessage
		if err := entries.Decode(&entry); err != nil {
			return err
		}
		if err := visit(entry); err != nil {
			return err
		}
	}
	if _, err := entries.Token(); err != nil {
		return err
	}
	if _, err := entries.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its end")
	}
	return nil
}
