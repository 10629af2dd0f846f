package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kitescope/tools/e2e/lab"
)

var (
	digits = regexp.MustCompile(`[0-9]+`)
	ids    = regexp.MustCompile(`[0-9]{15,}`)
)

// drawKey removes or changes a key of etcd, and starts a coordinator again, as often as not: they read most keys only
// then. Which key is drawn as a place among the shapes of keys that there are, and one among the client's of that
// shape.
func drawKey(d *dice) *Action {
	shape, place, how := d.Float64(), d.Float64(), pick(d, []string{"removed", "emptied", "garbled", "of its neighbor"})
	components := []string{"etcd"}
	if d.IntN(2) == 0 {
		components = append(components, pick(d, lab.Coordinators))
	}
	a := &Action{Components: components, Args: fmt.Sprintf("key %s at %.3f/%.3f", how, shape, place)}
	key := ""
	a.inject = func(ctx context.Context, l *Lab, a *Action) error {
		all, err := l.keys(ctx, shape)
		if err != nil {
			return err
		}
		at := int(place * float64(len(all)))
		key = all[at]
		a.names = append(a.names, key)
		a.names = append(a.names, ids.FindAllString(key, -1)...)
		old, err := l.value(ctx, key)
		if err != nil {
			return err
		}
		l.Undo(func() error {
			ctx := context.WithoutCancel(ctx)
			err := l.put(ctx, key, old)
			if err == nil && len(components) > 1 {
				err = l.stopAndStart(ctx, components[1])
			}
			return err
		})
		switch how {
		case "removed":
			_, err = l.Etcdctl(ctx, "del", key)
		case "emptied":
			err = l.put(ctx, key, "")
		case "garbled":
			err = l.put(ctx, key, "\xff\xfe"+strings.ToUpper(old))
		default:
			var other string
			if other, err = l.value(ctx, all[(at+1)%len(all)]); err == nil {
				err = l.put(ctx, key, other)
			}
		}
		if err == nil && len(components) > 1 {
			err = l.stopAndStart(ctx, components[1])
		}
		return err
	}
	a.effect = func(context.Context, *Lab) (bool, string) { return key != "", key }
	return a
}

// keys returns the keys of one shape, the client's if there are any.
func (l *Lab) keys(ctx context.Context, shape float64) ([]string, error) {
	out, err := l.Etcdctl(ctx, "get", "--prefix", "--keys-only", "by-dev/")
	if err != nil {
		return nil, err
	}
	byShape, order := map[string][]string{}, []string{}
	for key := range strings.FieldsSeq(string(out)) {
		s := digits.ReplaceAllString(key, "N")
		if strings.Contains(key, "/snapshots/") {
			continue
		}
		if byShape[s] == nil {
			order = append(order, s)
		}
		byShape[s] = append(byShape[s], key)
	}
	if len(order) == 0 {
		return nil, errors.New("no keys in etcd")
	}
	slices.Sort(order)
	all := byShape[order[int(shape*float64(len(order)))]]
	var own []string
	for _, c := range []string{probeCollection, probeCollection + "_load", probeCollection + "_flush"} {
		described, err := l.describe(ctx, c)
		if err != nil { // felt_load and felt_flush are created and dropped again and again
			continue
		}
		for _, key := range all {
			if strings.Contains(key, described[0]) {
				own = append(own, key)
			}
		}
	}
	if len(own) > 0 {
		return own, nil
	}
	return all, nil
}

func (l *Lab) value(ctx context.Context, key string) (string, error) {
	out, err := l.Etcdctl(ctx, "get", "--print-value-only", key)
	return strings.TrimSuffix(string(out), "\n"), err
}

// put writes any bytes: etcdctl takes a value that begins with a dash only from its input.
func (l *Lab) put(ctx context.Context, key, value string) error {
	words := []string{"--endpoints", lab.EtcdAddress, "put", key}
	if value == "" { // it takes no empty input
		words = append(words, value)
	}
	cmd := l.Command(ctx, "etcdctl", words...)
	cmd.Stdin = strings.NewReader(value)
	return cmd.Run()
}
