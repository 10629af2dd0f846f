package engine

import (
	"cmp"
	"strconv"
)

// Key is a primary key. Milvus has integer and string keys, but never both in one collection.
type Key struct {
	Number int64
	Text   string
	IsText bool
}

// NumberKey returns an integer key.
func NumberKey(n int64) Key { return Key{Number: n} }

// TextKey returns a string key.
func TextKey(s string) Key { return Key{Text: s, IsText: true} }

func (k Key) String() string {
	if k.IsText {
		return k.Text
	}
	return strconv.FormatInt(k.Number, 10)
}

// Compare orders keys as Milvus does: integers by value, strings by their bytes.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Number, l.Number), cmp.Compare(k.Text, l.Text))
}
