package main

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/msgid"
	"kitescope/internal/table"
	"kitescope/render/clusters"
)

func decodeCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "decode",
		Long: `Decode and encode the numbers that Milvus stores: message ids of its queues, and hybrid timestamps.
No source is needed.`,
		Example: `  kitescope decode msgid CAMQBA==
  kitescope decode ts 462041860177690624`,
	}
}

func decodeCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "msgid", Short: "Read message ids of Kafka, Pulsar, RocksMQ and Woodpecker", Build: decodeMsgID},
		{Name: "ts", Short: "Convert hybrid timestamps to times and back", Build: decodeTS},
	}
}

func decodeMsgID(a *cli.App) *cobra.Command {
	var f cli.ReportFlags
	var queue string
	cmd := &cobra.Command{
		Use: "msgid ID...",
		Long: `Read message ids: bytes of a checkpoint in hex or base64, the text that a streaming node keeps (base64
for Pulsar and Woodpecker, base 36 for Kafka and RocksMQ), an offset, or parts with slashes: segment/entry for
Woodpecker, ledger/entry/batch for Pulsar.

Ids of several queues look alike, so each possible reading is a row, the most likely first; --queue selects
one queue. Each row has the id in all forms.`,
		Example: `  kitescope decode msgid CAMQBA==
  kitescope decode msgid 3/4 --queue woodpecker -o json
  kitescope decode msgid 0x63da060000000000 9mjn`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if queue != "" && !slices.Contains(msgid.Queues(), msgid.Queue(queue)) {
				return cli.Usagef("--queue must be one of %s, not %q", strings.Join(queueNames(), ", "), queue)
			}
			format, o, err := f.Parse(a, cmd)
			if err != nil {
				return err
			}
			var rows []clusters.MessageID
			for _, given := range args {
				list := msgid.Filter(msgid.FromText(given), msgid.Queue(queue))
				if len(list) == 0 {
					return cli.Usagef("%q is not a message id%s", given, queueSuffix(queue))
				}
				for _, r := range list {
					rows = append(rows, clusters.MessageID{Given: given, Reading: r})
				}
			}
			return a.Write(func(w *bufio.Writer) error { return clusters.MessageIDs(w, rows, format, o) })
		},
	}
	cmd.Flags().StringVar(&queue, "queue", "", "only readings of one queue: "+strings.Join(queueNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("queue", cli.FixedCompletions(queueNames()...))
	f.Register(cmd, clusters.DecodedFormats(), 0, "")
	f.List(cmd, clusters.MessageIDSchema, "queue=kafka", "message_id", "queue,message_id; +stored")
	return cmd
}

func queueNames() (names []string) {
	for _, q := range msgid.Queues() {
		names = append(names, string(q))
	}
	return names
}

func queueSuffix(queue string) string {
	if queue == "" {
		return ""
	}
	return " of " + queue
}

func decodeTS(a *cli.App) *cobra.Command {
	var f cli.ReportFlags
	cmd := &cobra.Command{
		Use: "ts TIME...",
		Long: `Convert Milvus's hybrid timestamps to times and back: milliseconds since 1970 in the upper 46 bits, a
counter in the lower 18. A number that is too small for a hybrid timestamp is read as seconds or milliseconds since 1970.
Times without a zone are UTC; "now" works, too.`,
		Example: `  kitescope decode ts 462041860177690624
  kitescope decode ts 2026-11-26T22:01:15Z 1795730475661 now -o json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, o, err := f.Parse(a, cmd)
			if err != nil {
				return err
			}
			var rows []clusters.Timestamp
			for _, given := range args {
				row, err := readTimestamp(given, a.Now())
				if err != nil {
					return cli.Usage(err,
						"give a hybrid timestamp, seconds or milliseconds since 1970, or a time such as "+
							"2026-11-26T22:01:15Z")
				}
				rows = append(rows, row)
			}
			return a.Write(func(w *bufio.Writer) error { return clusters.Timestamps(w, rows, format, o) })
		},
	}
	f.Register(cmd, clusters.DecodedFormats(), 0, "")
	f.List(cmd, clusters.TimestampSchema, "read_as=hybrid", "time", "time,hybrid; +logical")
	return cmd
}

// A number below secondsBelow is read as seconds, below millisecondsBelow as milliseconds, and otherwise as a hybrid
// timestamp. 2^33 seconds are the year 2242 and 2^43 milliseconds are 2248, while a hybrid timestamp of 2^51 is still
// in 1970.
const (
	secondsBelow      = 1 << 33
	millisecondsBelow = 1 << 43
)

// readTimestamp parses a number or a time. It returns an error if the time is outside the range of a hybrid timestamp,
// or if the number is one that Milvus stores for "none" or "dropped".
func readTimestamp(given string, now time.Time) (clusters.Timestamp, error) {
	word := strings.TrimSpace(given)
	at := func(how string, t time.Time) (clusters.Timestamp, error) {
		if t.UnixMilli() <= 0 || t.UnixMilli() >= 1<<46 {
			return clusters.Timestamp{}, fmt.Errorf("%q is out of range for a hybrid timestamp", given)
		}
		return clusters.Timestamp{Given: given, ReadAs: how, At: model.TSOFromTime(t)}, nil
	}
	if n, err := strconv.ParseUint(word, 10, 64); err == nil {
		switch {
		case n < secondsBelow:
			return at("seconds", time.Unix(int64(n), 0))
		case n < millisecondsBelow:
			return at("milliseconds", time.UnixMilli(int64(n)))
		case model.TSO(n).Time().IsZero():
			return clusters.Timestamp{}, fmt.Errorf("%q means none or dropped, not a time", given)
		}
		return clusters.Timestamp{Given: given, ReadAs: "hybrid", At: model.TSO(n)}, nil
	}
	if when, err := table.ParseWhen(word); err == nil {
		t, _ := when.In(now)
		return at("time", t)
	}
	return clusters.Timestamp{}, fmt.Errorf("%q is neither a number nor a time", given)
}
