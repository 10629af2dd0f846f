package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Kitescope is the tested binary.
type Kitescope struct{ File string }

// Ask runs a command on a source, saves its JSON document in a file and decodes its items.
func (k *Kitescope) Ask(ctx context.Context, l *Lab, from, file string, items any, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := l.Command(ctx, k.File, append(words, "-o", "json", "--from", from)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	const findings, unseen = 3, 4 // exit codes with a document
	exit, ok := errors.AsType[*exec.ExitError](err)
	if out.Len() == 0 || err != nil && !(ok && (exit.ExitCode() == findings || exit.ExitCode() == unseen)) {
		return fmt.Errorf("kitescope %s: %w: %.300s", strings.Join(words, " "), errors.Join(err, ctx.Err()),
			strings.TrimSpace(errs.String()))
	}
	said := struct {
		Items any `json:"items"`
	}{items}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		return fmt.Errorf("%s -o json: %w: %.200s", words[0], err, out.String())
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
