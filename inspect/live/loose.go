package live

import (
	"encoding/json"
	"strconv"

	"kitescope/inspect/model"
)

// Values in JSON as processes write them: an id may be a number or text, of one release this and of the next one that, and text
// may be quoted twice (a tag "string" on a field of text: SyncTask.SegmentLevel). What is of another type is empty.
type (
	looseNumber  int64
	looseText    string
	looseNumbers []looseNumber
	looseTexts   []looseText
)

// UnmarshalJSON never fails.
func (n *looseNumber) UnmarshalJSON(b []byte) error {
	var t looseText
	if _ = t.UnmarshalJSON(b); t == "" {
		t = looseText(b)
	}
	*n = numberOf(string(t))
	return nil
}

// UnmarshalJSON never fails.
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

// UnmarshalJSON never fails.
func (l *looseNumbers) UnmarshalJSON(b []byte) error {
	*l = looseList[looseNumber](b)
	return nil
}

// UnmarshalJSON never fails.
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

// numberOf is the number that text is, 0 if it is none.
func numberOf(text string) looseNumber {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return looseNumber(n)
}

// node is an id of a node, 0 where it can be none: Milvus writes -1 for "none yet".
func (n looseNumber) node() model.NodeID { return model.NodeID(max(0, n)) }

// segment is a list of one, none where it can be no id.
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
