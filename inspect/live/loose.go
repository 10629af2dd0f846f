package live

import (
	"encoding/json"
	"strconv"

	"kitescope/inspect/model"
)

// JSON values as processes write them. An id may be a number in one release and text in the next, and text may
// be quoted twice (a tag "string" on a field of text: SyncTask.SegmentLevel). Values of another type decode to
// the zero value.
type (
	looseNumber  int64
	looseText    string
	looseNumbers []looseNumber
	looseTexts   []looseText
)

// UnmarshalJSON decodes a number or a text with one. It never fails.
func (n *looseNumber) UnmarshalJSON(b []byte) error {
	var t looseText
	if _ = t.UnmarshalJSON(b); t == "" {
		t = looseText(b)
	}
	*n = numberOf(string(t))
	return nil
}

// UnmarshalJSON decodes a text. It never fails.
func (t *looseText) UnmarshalJSON(b []byte) error {
	var once, twice string
	if json.Unmarshal(b, &once) != nil {
		*t = ""
		return nil //nolint:nilerr // what is no text is none: the rest of the record counts
	}
	if len(once) >= 2 && once[0] == '"' && json.Unmarshal([]byte(once), &twice) == nil {
		once = twice
	}
	*t = looseText(once)
	return nil
}

// UnmarshalJSON decodes a list of numbers. It never fails.
func (l *looseNumbers) UnmarshalJSON(b []byte) error {
	*l = looseList[looseNumber](b)
	return nil
}

// UnmarshalJSON decodes a list of texts. It never fails.
func (l *looseTexts) UnmarshalJSON(b []byte) error {
	*l = looseList[looseText](b)
	return nil
}

func looseList[T any](b []byte) []T {
	var list []T
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	return list
}

// numberOf parses text as a number, and returns 0 if it is not one.
func numberOf(text string) looseNumber {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return looseNumber(n)
}

// node converts n to a node id. Invalid ids become 0: Milvus writes -1 for "none yet".
func (n looseNumber) node() model.NodeID { return model.NodeID(max(0, n)) }

// segment returns a list with the one id, or nil if n is not a valid id.
func (n looseNumber) segment() []model.SegmentID {
	if n <= 0 {
		return nil
	}
	return []model.SegmentID{model.SegmentID(n)}
}

func (l looseNumbers) segments() []model.SegmentID {
	var list []model.SegmentID
	for _, n := range l {
		list = append(list, n.segment()...)
	}
	return list
}
