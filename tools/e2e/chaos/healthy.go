package main

import (
	"context"
	"strconv"
	"time"

	"kitescope/tools/e2e/lab"
)

// healthy keeps clients busy on a healthy cluster with inserts, flushes, compactions, searches, and
// collections that are created and dropped. It counts the findings of severity warning or above that --watch
// reports. All of them are false.
func (l *Lab) healthy(ctx context.Context, span time.Duration, log func(string, ...any)) error {
	if err := l.waitQuiet(ctx); err != nil {
		return err
	}
	w, err := l.kitescope.Watch(ctx, l.Lab, l.Out)
	if err != nil {
		return err
	}
	defer w.End()
	began := time.Now()
	defer l.EndBackground(false)
	if err := l.StartClient(ctx, "churn", strconv.Itoa(int(span.Seconds())),
		strconv.FormatInt(began.Unix()%1000, 10)); err != nil {
		return err
	}
	d := newDice(uint64(began.Unix()), 1)
	for time.Since(began) < span && ctx.Err() == nil {
		k := pick(d, decoys())
		if k.Alone {
			continue
		}
		a := k.Draw(d)
		log("%s", Draw{k, a})
		if k.Name == "collections come and go" || k.Name == "searches" {
			err = l.Client(ctx, 60*time.Second, "search", "10", "2")
		} else {
			err = k.Inject(ctx, l, a)
		}
		if k.Name == "partition released by hand" {
			_ = lab.Sleep(ctx, 15*time.Second)
			err = k.Heal(ctx, l, a)
		}
		if err != nil {
			log("%v", err)
		}
	}
	found := alarms(lab.Appeared(w.Events(), began, time.Now()), nil)
	for i := range found {
		log("FALSE %s %s", found[i].At, found[i].String())
	}
	log("%s of healthy churn: %d findings of severity warning or above in --watch, still running: %v",
		time.Since(began).Round(time.Second), len(found), w.Alive())
	return nil
}
