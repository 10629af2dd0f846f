package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"kitescope/tools/e2e/lab"
)

// configure sets a setting of a topic or of clients in Kafka, until it is taken back.
func (l *Lab) configure(ctx context.Context, setting, value string, entity ...string) error {
	alter := append([]string{"--alter"}, entity...)
	l.Undo(func() error {
		return l.KafkaTool(context.WithoutCancel(ctx), "kafka.admin.ConfigCommand",
			append(alter, "--delete-config", setting)...)
	})
	return l.KafkaTool(ctx, "kafka.admin.ConfigCommand", append(alter, "--add-config", setting+"="+value)...)
}

func drawQuota(d *dice) *Action {
	what, rate := pick(d, []string{"producer_byte_rate", "consumer_byte_rate", "request_percentage"}),
		int(d.between(100, 50_000))
	if what == "request_percentage" {
		rate = 1 + d.IntN(5)
	}
	return &Action{
		Components: []string{"kafka"}, Args: fmt.Sprintf("%s=%d for all clients", what, rate),
		inject: func(ctx context.Context, l *Lab, _ *Action) error {
			return l.configure(ctx, what, strconv.Itoa(rate), "--entity-type", "clients", "--entity-default")
		},
		effect: func(context.Context, *Lab) (bool, string) { return true, "set" },
	}
}

// drawTopic changes, empties or deletes a topic: one of the client's own as often as any other.
func drawTopic(d *dice) *Action {
	topic, how := "", pick(d, []string{"max.message.bytes", "min.insync.replicas", "emptied", "deleted"})
	name, own := fmt.Sprintf("by-dev-rootcoord-dml_%d", d.IntN(16)), d.IntN(2) == 0
	size := int(d.between(100, 20_000))
	a := &Action{Components: []string{"kafka"}, Args: how + " of " + name, Fresh: how == "deleted"}
	if how == "max.message.bytes" {
		a.Args = fmt.Sprintf("%s=%d of %s", how, size, name)
	}
	if own {
		a.Args = strings.Replace(a.Args, name, "the client's topic", 1)
	}
	a.inject = func(ctx context.Context, l *Lab, a *Action) error {
		topic = name
		if own {
			described, err := l.describe(ctx, probeCollection)
			if err != nil {
				return err
			}
			topic = described[1]
		}
		a.names = append(a.names, topic)
		switch how {
		case "deleted":
			return l.KafkaTool(ctx, "kafka.admin.TopicCommand", "--delete", "--topic", topic)
		case "emptied": // as retention does
			return l.KafkaTool(ctx, filepath.Join(filepath.Dir(l.Script), "Empty.java"), topic)
		case "min.insync.replicas":
			return l.configure(ctx, how, "2", "--entity-type", "topics", "--entity-name", topic)
		default:
			return l.configure(ctx, how, strconv.Itoa(size), "--entity-type", "topics", "--entity-name", topic)
		}
	}
	a.effect = func(context.Context, *Lab) (bool, string) { return true, how + " of " + topic }
	return a
}

// describe returns the id of a collection and its topics.
func (l *Lab) describe(ctx context.Context, collection string) ([]string, error) {
	out, err := l.Output(ctx, l.Python(), "-W", "ignore", l.Script, lab.ProxyAddress, "describe", collection)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(string(out))
	if len(all) < 2 {
		return nil, fmt.Errorf("describe %s: %q", collection, out)
	}
	return all, nil
}
