package gains

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/choose"
	"kitescope/profile/gobuild"
	"kitescope/profile/pgo"
	"kitescope/profile/read"
	"kitescope/render"
	"kitescope/render/builds"
)

// verifyFlags are those of "pgo verify".
type verifyFlags struct {
	input    Profiles
	report   cli.ReportFlags
	profile  string
	running  string
	controls []string
}

func pgoVerify(a *cli.App, input Profiles) *cobra.Command {
	f := verifyFlags{input: input}
	cmd := &cobra.Command{
		Use: "verify BINARY|URL|PROFILE",
		Long: `Check whether a Go binary or a running service was built with a profile, which one, and
whether it took effect.

A binary names its profile by path, never by hash, unless the file name has the hash (pgo pack
--name-with-hash). The effect shows in calls that were hot when the profile was taken and are
inlined now: in the binary's own tables, or in a CPU profile of the service, pulled for --seconds.
They are compared with calls that PGO does not affect, or with builds without PGO (--control, a
binary or a profile). Go's decisions are deterministic: without PGO almost none of them change.

--profile is the profile it was built with; default: the file the binary names, if it exists.
Without any profile, a service is checked for inlining that only PGO can do: functions above the
normal cost limit.

Exit code 0: it took effect. 3: it did not: built without a profile, with another or an empty one,
or no sign of it. 4: unknown.`,
		Example: `  kitescope pgo verify ./service --profile default.pgo
  kitescope pgo verify ./service --profile default.pgo --control ./service-without
  kitescope pgo verify http://service:6060 --profile default.pgo --seconds 30
  kitescope pgo verify after.pb.gz --profile default.pgo --control before.pb.gz -o json`,
		Args: cli.Args(1, 1, "one program: a binary, a URL or a CPU profile", "kitescope pgo verify ./service --profile default.pgo"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	f.input.Register(cmd)
	cli.LeaveOut(cmd, "kind", "column", "weight-by", "threads", "demangle", "symbols")
	f.input.KeepMangled() // the compiler knows names as the linker has them
	fl := cmd.Flags()
	f.report.Register(cmd, render.ReportFormats(), defaultHotCalls, "maximum number of calls, 0 for all; csv and structured formats default to all")
	f.report.List(cmd, builds.VerificationSchema, "inlined=false", "-percent,callee", "callee,inlined; +made")
	fl.StringVar(&f.profile, "profile", "", "profile it was built with")
	fl.StringVar(&f.running, "running", "", "CPU profile of the binary under load, or the URL of the service")
	fl.StringArrayVar(&f.controls, "control", nil, "the same program built without PGO: its binary, or a CPU profile of it; repeatable")
	return cmd
}

func (f *verifyFlags) run(a *cli.App, cmd *cobra.Command, word string) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Settle(a, cmd)
	if err != nil {
		return err
	}
	s, err := f.subject(ctx, a, word)
	if err != nil {
		return err
	}
	v := pgo.Verify(s)
	err = a.Write(func(w *bufio.Writer) error { return builds.WriteVerification(w, v, format, ro) })
	if err != nil {
		return err
	}
	switch v.Effect {
	case pgo.NoSign:
		return &cli.CodeError{Code: cli.ExitFindings}
	case pgo.CannotTell:
		return &cli.CodeError{Code: cli.ExitIncomplete}
	case pgo.TookEffect:
	}
	return nil
}

// subject collects what is known of a program. Files come first: what is pulled takes a while.
func (f *verifyFlags) subject(ctx context.Context, a *cli.App, word string) (*pgo.Subject, error) {
	s := &pgo.Subject{Name: cli.RedactWords([]string{word})[0]}
	running := f.running
	switch {
	case gobuild.IsBinary(word):
		var err error
		if s, err = gobuild.SubjectOf(ctx, word, s.Name); err != nil {
			return nil, err
		}
	case running != "":
		return nil, cli.Usage(errors.New("--running needs a binary, but "+s.Name+" is none"), "give the binary, or omit --running")
	default:
		running = word
	}
	if err := f.given(ctx, a, s); err != nil {
		return nil, err
	}
	for _, control := range f.controls {
		if err := f.control(ctx, a, s, control); err != nil {
			return nil, fmt.Errorf("control: %w", err)
		}
	}
	if running != "" {
		var err error
		if s.Running, err = f.input.Merged(ctx, a, []string{running}, true); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// given reads the profile that the program was built with: the one that is named, else the file that the binary names.
func (f *verifyFlags) given(ctx context.Context, a *cli.App, s *pgo.Subject) error {
	path, assumed := f.profile, false
	if path == "" && s.Build != nil && s.Build.PGO != "" {
		if info, err := os.Stat(s.Build.PGO); err == nil && info.Mode().IsRegular() {
			path, assumed = s.Build.PGO, true
		}
	}
	if path == "" {
		return nil
	}
	text, err := readPackFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	g := &pgo.GivenProfile{Name: path, SHA256: hex.EncodeToString(sum[:]), Assumed: assumed}
	if len(text) == 0 { // Go takes it, and does nothing with it
		g.Profile = &profile.Profile{}
	} else if o, err := f.input.Options(); err != nil {
		return err
	} else if g.Profile, g.Err = read.From(ctx, path, bytes.NewReader(text), o); ctx.Err() != nil {
		return ctx.Err()
	}
	if g.Manifest, err = manifestOf(path); err != nil {
		a.Warn("%v", err)
	}
	s.Given = g
	return nil
}

// maxPack bounds a profile that programs are built with: those that are known are below 10 MB.
const maxPack = 1 << 30

func readPackFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, choose.NoSuchFile(path)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPack+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxPack {
		return nil, fmt.Errorf("read %s: it is larger than %d MB: is it a profile to build with?", path, maxPack>>20)
	}
	return text, nil
}

// manifestOf reads what lies beside a pack; nil if nothing does.
func manifestOf(path string) (*pgo.Manifest, error) {
	f, err := os.Open(pgo.ManifestName(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := pgo.ReadManifest(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", pgo.ManifestName(path), err)
	}
	return m, nil
}

// control adds what is known of a build without PGO.
func (f *verifyFlags) control(ctx context.Context, a *cli.App, s *pgo.Subject, word string) error {
	if !gobuild.IsBinary(word) {
		p, err := f.input.Merged(ctx, a, []string{word}, true)
		if err != nil {
			return err
		}
		s.Controls, s.ControlProfiles = append(s.Controls, pgo.SightOfProfile(p)), append(s.ControlProfiles, p)
		return nil
	}
	b, err := gobuild.ReadBinary(word)
	if err != nil {
		return err
	}
	if b.PGO != "" {
		return cli.Usage(fmt.Errorf("%s was built with %s", word, b.PGO), "give a build without PGO: go build -pgo=off")
	}
	inlined, starts, err := b.Inlined(ctx)
	if err != nil {
		return err
	}
	s.Controls = append(s.Controls, pgo.SightOfBinary(inlined, starts))
	return nil
}
