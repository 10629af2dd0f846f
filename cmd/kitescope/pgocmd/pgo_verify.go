package pgocmd

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
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/choose"
	"kitescope/profile/pgo"
	"kitescope/profile/read"
	"kitescope/render"
	"kitescope/render/builds"
)

// verifyFlags holds the flags of "pgo verify".
type verifyFlags struct {
	report  cli.ReportFlags
	profile string
}

func pgoVerify(a *cli.App) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use: "verify BINARY",
		Long: `Check from its build information whether a Go binary was built with a profile, and with which one.

A binary names its profile by path, never by hash, unless the file name has the hash (pgo pack
--name-with-hash). --profile is the profile that it should have been built with; default: the file
the binary names, if it exists. Where only the names can be compared, the report says so.

Exit code 0: it was built with it. 3: it was not: without a profile, with another or an empty one.
4: unknown.`,
		Example: `  kitescope pgo verify ./service
  kitescope pgo verify ./service --profile default.pgo
  kitescope pgo verify ./service --profile default-0123456789abcdef.pgo -o json`,
		Args: cli.Args(1, 1, "one Go binary", "kitescope pgo verify ./service --profile default.pgo"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	cmd.Flags().StringVar(&f.profile, "profile", "", "profile it was built with")
	return cmd
}

func (f *verifyFlags) run(a *cli.App, cmd *cobra.Command, path string) error {
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if strings.Contains(path, "://") {
		return cli.Usage(errors.New("pgo verify reads the build information of a binary; a service does not report it"),
			"copy its binary here: kitescope pgo verify ./service")
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !pgo.IsBinary(path) {
		return cli.Usage(errors.New(path+" is not a binary"),
			"give the program; a profile does not record how the program was built")
	}
	build, err := pgo.ReadBuild(path)
	if err != nil {
		return err
	}
	given, err := f.givenProfile(cmd.Context(), a, build)
	if err != nil {
		return err
	}
	v := pgo.Verify(path, build, given)
	err = a.Write(func(w *bufio.Writer) error { return builds.WriteVerification(w, v, format, ro) })
	if err != nil {
		return err
	}
	switch v.Effect {
	case pgo.NotUsed:
		return &cli.CodeError{Code: cli.ExitFindings}
	case pgo.EffectUnknown:
		return &cli.CodeError{Code: cli.ExitIncomplete}
	case pgo.Used:
	}
	return nil
}

// givenProfile reads the profile that the program should have been built with: the file of --profile, or by default the
// file that the binary names. It returns nil without --profile if that file does not exist.
func (f *verifyFlags) givenProfile(ctx context.Context, a *cli.App, b *pgo.Build) (*pgo.GivenProfile, error) {
	path, assumed := f.profile, false
	if path == "" && b.PGO != "" {
		if info, err := os.Stat(b.PGO); err == nil && info.Mode().IsRegular() {
			path, assumed = b.PGO, true
		}
	}
	if path == "" {
		return nil, nil
	}
	text, err := readPackFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	g := &pgo.GivenProfile{Name: path, SHA256: hex.EncodeToString(sum[:]), Assumed: assumed}
	if len(text) == 0 { // Go accepts an empty profile and ignores it
		g.Profile = &profile.Profile{}
	} else if g.Profile, g.Err = read.From(ctx, path, bytes.NewReader(text), read.Options{}); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if g.Manifest, err = manifestOf(path); err != nil {
		a.Warn("%v", err)
	}
	return g, nil
}

// maxPack is the maximum size of a profile to build with, in bytes. Known profiles are below 10 MB.
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

// manifestOf reads the manifest of a pack. It returns nil if there is none.
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
