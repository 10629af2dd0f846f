package main

import (
	"context"
	"path/filepath"
)

// ties compares answers on a set in which most distances are equal, so the order among equal distances
// decides. Nothing is timed.
func (b *bench) ties(ctx context.Context) error {
	f := shape{dim: 16, rows: min(b.rows, 20_000), ties: true}.files(b.cache)
	for _, kind := range []fileKind{fileHNSWLib, fileFaiss} {
		if err := b.ensure(kind)(ctx, f); err != nil {
			return err
		}
		b.logf("%s: ties against %s", f.name(), kind)
		if err := b.tiesOf(ctx, f, kind); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) tiesOf(ctx context.Context, f files, kind fileKind) error {
	ours, err := b.openHNSW(f, kind)
	if err != nil {
		return err
	}
	defer ours.close()
	err = b.peer.doAll(
		args{"op": "matrix", "name": "q", "file": f.queries},
		args{"op": kind.String() + "_load", "name": "index", "file": f.index(kind), "dim": f.dim},
	)
	if err != nil {
		return err
	}
	var all agreement
	for _, ef := range efs() {
		out := filepath.Join(b.scratch, "ties")
		if _, err := b.peer.do(kind.String()+"_search", args{
			"name": "index", "queries": "q", "k": topK, "ef": ef, "out": out,
		}); err != nil {
			return err
		}
		theirs, err := readAnswers(ctx, out)
		if err != nil {
			return err
		}
		if _, err := ours.search(ef); err != nil {
			return err
		}
		a := agree(ours.hits, theirs)
		all.Queries, all.IDs, all.Bits = all.Queries+a.Queries, all.IDs+a.IDs, all.Bits+a.Bits
	}
	r := row{Part: partTies, What: sprintf("HNSW search, %s's file, %s, ef 16 to 128", kind, f.title())}
	r.setAgreement(all)
	b.report.add(r)
	return b.peer.doAll(args{"op": "drop", "name": "index"}, args{"op": "drop", "name": "q"})
}
