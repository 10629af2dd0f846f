package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/pgo"
)

func pgoCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "pgo",
		Long: `Take a Go service from CPU profiles to a rebuild that is proven to be better, or be told that
there is nothing to gain.

  judge   would Go accept these profiles, are they good, what can they reach
  pack    merge them into a default.pgo, with a record of where it comes from
  verify  was this binary built with it, and did it take effect
  trial   all of it with measurements: build without and with, run in turns, compare

Go itself keeps no hash of the profile in a binary, accepts an empty one silently, and can
make a program slower: docs/PGO.md walks the whole way.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --seconds 30 -O before
  kitescope pgo judge before
  kitescope pgo pack --dir ./milvus before
  kitescope pgo trial --dir ./service --bench . -O trial`,
	}
}

// pgoCommands are the commands below it.
func pgoCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "judge", Short: "Would Go accept these profiles, are they good, what can they reach", Build: pgoJudge},
		{Name: "pack", Short: "Merge profiles into a default.pgo, with a record of where it comes from", Build: pgoPack},
		{Name: "verify", Short: "Was this program built with PGO, with which profile, and did it take effect", Build: pgoVerify},
		{Name: "trial", Short: "Build without and with a profile, run both in turns, report what it is worth", Build: pgoTrial},
	}
}

// pgoInputs reads the profiles that words name, each on its own. What cannot be read is an input with its
// reason, as a judgement is about all of them; a path that does not exist is a mistake in the command line.
func (in *profileInput) pgoInputs(ctx context.Context, a *cli.App, words []string) ([]pgo.Input, error) {
	choice, err := in.chooseProfiles(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.close()
	if len(choice.list) > 1 {
		defer a.Collector.Often()()
	}
	inputs := make([]pgo.Input, len(choice.list))
	for i := range choice.list {
		c := &choice.list[i]
		p, err := c.load(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case err == nil:
			p = inNodes(p, in.nodes)
		case c.isPreprofile():
			err = pgo.ErrPreprofile
		}
		inputs[i] = pgo.Input{
			Name: cli.RedactWords([]string{c.name})[0], Node: c.node, Profile: p, Err: err,
			BuildID: cmp.Or(c.buildID, buildIDOf(p)), SHA256: c.sha256(),
		}
		if p != nil {
			inputs[i].GoVersion = pgo.GoVersionOf(p)
		}
	}
	return inputs, nil
}

// isPreprofile reports whether a file is what `go tool preprofile` writes, which no reader of profiles knows.
func (p *chosenProfile) isPreprofile() bool {
	if p.open == nil {
		return false
	}
	f, err := p.open()
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64) // more than its first line
	n, _ := io.ReadFull(f, head)
	return pgo.IsPreprofile(head[:n])
}

// sha256 is the hash of the file that a profile lies in, "" if it cannot be read again.
func (p *chosenProfile) sha256() string {
	if p.open == nil {
		return ""
	}
	f, err := p.open()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// buildIDOf is the build id of the program that a profile is of: its first mapping (google/pprof: the main binary).
func buildIDOf(p *profile.Profile) string {
	if p == nil || len(p.Mappings) == 0 {
		return ""
	}
	return p.Mappings[0].BuildID
}
