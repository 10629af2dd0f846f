package main

import (
	"context"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// cmdRecorded waits until a recording has at least CHUNKS chunks and the last one has at least ROUNDS rounds of
// responses: recorded DIR CHUNKS ROUNDS.
func cmdRecorded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: recorded DIR CHUNKS ROUNDS")
	}
	chunks, err := strconv.Atoi(args[1])
	ts.Check(err)
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		names, _ := source.ChunkNames(ts.MkAbs(args[0])) // DIR may not exist yet
		n, err := roundsOf(ts.MkAbs(args[0]))
		switch {
		case err == nil && n >= want && len(names) >= chunks:
			return
		case time.Now().After(deadline):
			ts.Fatalf("%d rounds are recorded after %s: %v", n, patience, err)
		}
	}
}

func roundsOf(dir string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	src, err := source.Open(ctx, dir, source.Options{})
	if err != nil {
		return 0, err
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		return 0, err
	}
	chunks, err := src.(*source.Recording).Chunks(ctx, snap.Header().Revision, time.Time{})
	if err != nil {
		return 0, err
	}
	n := 0
	err = chunks[len(chunks)-1].History(ctx, func(m source.HistoryMember) error {
		if m.Kind == session.RoundMember {
			n++
		}
		return nil
	})
	return n, err
}
