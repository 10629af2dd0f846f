package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// WaitQuiet waits until all processes are healthy and nothing is moved, built or handed over.
func (l *Lab) WaitQuiet(ctx context.Context) error {
	for _, p := range AllProcesses {
		if _, err := l.Healthz(ctx, p, 10*time.Second); err != nil {
			return fmt.Errorf("%s is not healthy: %w", p, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	_, err := l.Output(ctx, l.Python(), filepath.Join(l.Tools, "state.py"), EtcdAddress, "-o",
		filepath.Join(l.Out, "state.json"), "--settle", "8", "--timeout", "300")
	return err
}
