package meta

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

func TestZZ(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	var kvs []source.KV
	eachKey(t, "standalone-2.3.5", func(kv source.KV) {
		kvs = append(kvs, source.KV{Key: bytes.Clone(kv.Key), Value: bytes.Clone(kv.Value)})
	})
	server.Load(t, kvs)
	src, _ := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	for range 5 {
		snap, err := src.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t0 := time.Now()
		c, err := Load(t.Context(), snap, Want{Parts: model.PartAll})
		if err != nil {
			t.Fatal(err)
		}
		d := time.Since(t0)
		small, hot := splitRanges(snap.Header(), model.PartAll)
		n := 0
		t0 = time.Now()
		_ = snap.Scan(t.Context(), append(small, hot...).sorted(), func(source.KV) error { n++; return nil })
		fmt.Println(d, "whole", time.Since(t0), n, len(c.Segments), len(Ranges(snap.Header(), model.PartAll, c)))
	}
}
