package engine

import (
	"cmp"
	"strconv"
)

// Key is a primary key: Milvus has numbers and text, never both in one collection.
type Key struct {
	Number int64
	Text   string
	IsText bool
}

// NumberKey is a key that is a number.
func NumberKey(n int64) Key { return Key{Number: n} }

// TextKey is a key that is text.
func TextKey(s string) Key { return Key{Text: s, IsText: true} }

func (k Key) String() string {
	if k.IsText {
		return k.Text
	}
	return strconv.FormatInt(k.Number, 10)
}

// Compare orders keys as Milvus does: numbers by value, text by its bytes.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Number, l.Number), cmp.Compare(k.Text, l.Text))
}
