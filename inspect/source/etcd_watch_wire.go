package source

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The watcher of the client library is not used, because it panics on an event without a key-value. It does so in its
// own goroutine, so the panic cannot be recovered and ends the process. It also buffers responses and their fragments
// without a limit.

// errBadWatch reports a watch message that etcd does not write.
var errBadWatch = errors.New("malformed watch response")

// watchMessage is one WatchResponse (etcd api/v3/etcdserverpb/rpc.proto).
type watchMessage struct {
	// revision is the revision of the store when the message was sent.
	revision int64
	created  bool
	canceled bool
	// compacted is the oldest available revision, if the watch requested an older one.
	compacted int64
	// reason is the reason for the cancelation of the watch.
	reason string
	// fragment reports that the next message belongs to the same response.
	fragment bool
	// raw is the encoded message. It keeps the events encoded, because many small events take ten times the
	// memory when decoded.
	raw    []byte
	events int
}

// parseWatch decodes all fields except the events: 1 header, 3 created, 4 canceled, 5 compact_revision, 6
// cancel_reason, 7 fragment, 11 events.
func parseWatch(b []byte) (watchMessage, error) {
	m := watchMessage{raw: b}
	ok := eachField(b, func(num protowire.Number, v uint64, data []byte) {
		switch num {
		case 1:
			m.revision = headerRevision(data)
		case 3:
			m.created = v != 0
		case 4:
			m.canceled = v != 0
		case 5:
			m.compacted = int64(v)
		case 6:
			m.reason = string(data)
		case 7:
			m.fragment = v != 0
		case 11:
			m.events++
		}
	})
	if !ok {
		return m, errBadWatch
	}
	return m, nil
}

// isProgress reports whether a message is only a progress notification.
func (m *watchMessage) isProgress() bool { return !m.created && !m.fragment && m.events == 0 }

// headerRevision decodes ResponseHeader.revision, field 3. It returns 0 if there is none.
func headerRevision(b []byte) (revision int64) {
	eachField(b, func(num protowire.Number, v uint64, _ []byte) {
		if num == 3 {
			revision = int64(v)
		}
	})
	return revision
}

// each yields the events in order. Their keys and values are slices of the message.
func (m *watchMessage) each(yield func(Event) error) error {
	var err error
	eachField(m.raw, func(num protowire.Number, _ uint64, data []byte) {
		if num != 11 || err != nil {
			return
		}
		var e Event
		if e, err = parseEvent(data); err == nil {
			err = yield(e)
		}
	})
	return err
}

// parseEvent decodes an mvccpb.Event (etcd api/v3/mvccpb/kv.proto): 1 type, 2 kv. It returns an error if the
// event has no key or no revision.
func parseEvent(b []byte) (Event, error) {
	const deleted = 1
	var kind uint64
	var record []byte
	ok := eachField(b, func(num protowire.Number, v uint64, data []byte) {
		switch num {
		case 1:
			kind = v
		case 2:
			record = data
		}
	})
	if !ok || kind > deleted {
		return Event{}, fmt.Errorf("%w: an event of an unknown kind", errBadWatch)
	}
	kv, err := parseKeyValue(record)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("%w: an event without a key", errBadWatch)
	case kv.ModRevision <= 0:
		return Event{}, fmt.Errorf("%w: an event without a revision", errBadWatch)
	case kind == deleted:
		return Event{KV: KV{Key: kv.Key, ModRevision: kv.ModRevision}, Deleted: true}, nil
	}
	return Event{KV: kv}, nil
}
