//go:build e2e

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// message is a protobuf message as printed by querynode-distribution.py. It maps field numbers to values; a
// repeated value is a list.
type message map[string]any

func (m message) list(field string) []message {
	var found []message
	take := func(v any) {
		if x, ok := v.(map[string]any); ok {
			found = append(found, x)
		}
	}
	switch v := m[field].(type) {
	case []any:
		for _, x := range v {
			take(x)
		}
	default:
		take(v)
	}
	return found
}

func (m message) number(field string) int64 {
	n, ok := m[field].(json.Number)
	if !ok {
		return 0
	}
	i, _ := n.Int64() // ids and counts are integers
	return i
}

func (m message) text(field string) string {
	n, _ := m[field].(json.Number)
	return n.String()
}

func readDistribution(t *testing.T, file string) map[string]message {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]message
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// addDistribution adds a node's response to GetDataDistribution to view. By field number, the response holds
// segments (3) with id and collection, channels (4) with name and collection, and leader views (5) with
// collection, growing segments (5) and their rows (7).
func addDistribution(
	view nodeShares, sealed map[string]string, address string, answer message, growing map[string]int64,
) {
	node := answer.text("2")
	add := func(collection string, f func(*nodeRow)) {
		s := view[collection+" "+node]
		f(&s)
		view[collection+" "+node] = s
	}
	for _, s := range answer.list("3") {
		sealed[s.text("1")+" "+node] = s.text("2")
		add(s.text("2"), func(x *nodeRow) { x.Sealed++ })
	}
	for _, c := range answer.list("4") {
		add(c.text("2"), func(x *nodeRow) { x.Channels++ })
	}
	growing[address] = 0
	for _, l := range answer.list("5") {
		add(l.text("1"), func(x *nodeRow) {
			x.Leaders++
			x.Growing += len(l.list("5"))
			x.GrowingRows += l.number("7")
		})
		growing[address] += l.number("7")
	}
}
