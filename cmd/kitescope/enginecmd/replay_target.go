package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/replay/live"
)

// openLive connects to the server of --target. It never connects to servers that only the metadata names.
func (f *loadFlags) openLive(ctx context.Context, a *cli.App, n *cli.NodeFlags, data *loadedData) (live.Target, error) {
	c := &data.Layout.Collection
	address, err := f.targetAddress(a)
	if err != nil {
		return nil, err
	}
	o := live.Options{
		Collection: f.targetTable, Expected: c.Name, NumberKeys: data.numberKeys(), Field: f.targetField,
		KeyField: f.targetKey, Consistency: f.consistency, IgnoreGrowing: f.ignoreGrowing,
		Dim: c.Dim, Element: c.Element, Deadline: f.deadline, MaxRequests: int64(f.total),
	}
	if live.IsMilvus(address) {
		conn, err := a.Connection()
		if err != nil && (data.file == nil || a.NamesCluster()) { // a file of vectors needs no cluster
			return nil, err
		}
		if o.TLS, err = n.Resolve(conn).TLSConfig(); err != nil {
			return nil, err
		}
		o.Token = a.Getenv("KITESCOPE_MILVUS_TOKEN")
		if u, err := url.Parse(address); err == nil && strings.Trim(u.Path, "/") == "" {
			o.Database = c.Database
		}
	} else {
		o.Metric = c.Metric.String()
	}
	return live.Open(ctx, address, o)
}

// targetAddress returns the address of --target with the password of its user.
func (f *loadFlags) targetAddress(a *cli.App) (string, error) {
	address := f.target
	if !strings.Contains(address, "://") {
		address = "milvus://" + address
	}
	u, err := url.Parse(address)
	if f.passwordFile != "" && err == nil && u.User == nil {
		return "", cli.Usage(errors.New("--target-password-file: --target has no user"), "write USER@HOST:PORT")
	}
	if err != nil || u.User == nil {
		//nolint:nilerr // live.Open says it
		return address, nil // live.Open reports the error, without repeating the address
	}
	if _, has := u.User.Password(); has {
		return address, nil
	}
	password := a.Getenv("KITESCOPE_TARGET_PASSWORD")
	if f.passwordFile != "" {
		text, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return "", fmt.Errorf("read the target's password file: %w", err)
		}
		password = strings.TrimRight(string(text), "\r\n")
	}
	if password != "" {
		u.User = url.UserPassword(u.User.Username(), password)
	}
	return u.String(), nil
}
