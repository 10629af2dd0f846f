package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// drawCalls delays or fails the calls by which a process uses its folder.
func drawCalls(d *dice) *Action {
	process := pick(d, []string{"etcd", "kafka", "datanode", "indexnode", "querynode1", "querynode2", "datacoord"})
	calls := map[string]string{"etcd": "fdatasync,fsync", "kafka": "write,writev,pwrite64"}[process]
	components := []string{process, "storage"}
	if calls == "" {
		calls = "openat"
	} else {
		components = components[:1]
	}
	what := fmt.Sprintf("delay_enter=%d", int(d.between(5_000, 2_000_000)))
	if d.IntN(2) == 0 && process != "kafka" {
		what = fmt.Sprintf("error=%s:when=1+%d", pick(d, []string{"EIO", "ENOSPC", "EMFILE"}), 1+d.IntN(5))
	}
	var log string
	return &Action{
		Components: components, Args: calls + " " + what,
		inject: func(ctx context.Context, l *Lab, _ *Action) error {
			log = filepath.Join(l.Out, "strace-"+process+".txt")
			cmd := exec.CommandContext(ctx, "strace", "-f", "-qq", "-o", log, "-p", strconv.Itoa(l.PID(process)), "-e",
				"trace="+calls, "-e", "inject="+calls+":"+what)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				return err
			}
			l.Undo(func() error { _ = cmd.Process.Signal(syscall.SIGINT); return cmd.Wait() })
			return lab.Sleep(ctx, time.Second)
		},
		effect: func(context.Context, *Lab) (bool, string) {
			text, err := os.ReadFile(log)
			n := strings.Count(string(text), "(INJECTED)") + strings.Count(string(text), "(DELAYED)")
			return err == nil && n > 0, fmt.Sprintf("%d calls", n)
		},
	}
}

// drawSpace takes the space of the storage, or the right to write there.
func drawSpace(d *dice) *Action {
	if d.IntN(3) == 0 {
		return &Action{
			Components: []string{"storage"}, Args: "read-only",
			inject: func(_ context.Context, l *Lab, _ *Action) error {
				l.Undo(func() error { return syscall.Mount("", l.Data(), "", syscall.MS_REMOUNT, storageSize) })
				return syscall.Mount("", l.Data(), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, storageSize)
			},
			effect: func(_ context.Context, l *Lab) (bool, string) {
				err := os.WriteFile(filepath.Join(l.Data(), "paths"), nil, 0o600)
				return err != nil, fmt.Sprint(err)
			},
		}
	}
	left := int(d.between(1, 4000))
	free := func(l *Lab) int {
		var s syscall.Statfs_t
		if syscall.Statfs(l.Data(), &s) != nil {
			return -1
		}
		return int(s.Bavail) * int(s.Bsize) >> 10
	}
	return &Action{
		Components: []string{"storage"}, Args: fmt.Sprintf("%d KB left", left),
		inject: func(_ context.Context, l *Lab, _ *Action) error {
			file, err := os.Create(filepath.Join(l.Data(), "paths"))
			if err != nil {
				return err
			}
			defer file.Close()
			l.Undo(func() error { return os.Remove(file.Name()) })
			for margin := range 20 { // others write meanwhile
				if err = syscall.Fallocate(int(file.Fd()), 0, 0, int64(free(l)-left-64*margin)<<10); err == nil {
					break
				}
			}
			return err
		},
		effect: func(_ context.Context, l *Lab) (bool, string) {
			n := free(l) // some is freed meanwhile
			return n >= 0 && n <= left+2000, fmt.Sprintf("%d KB left", n)
		},
	}
}

// storageSize is the size of the file system that the storage has to itself.
const storageSize = "size=1500m"

// mountStorage gives the storage a file system of its own, once.
func (l *Lab) mountStorage() error {
	if err := os.MkdirAll(l.Data(), 0o755); err != nil {
		return err
	}
	var here, above syscall.Stat_t
	if err := syscall.Stat(l.Data(), &here); err != nil {
		return err
	}
	if err := syscall.Stat(filepath.Dir(l.Data()), &above); err != nil || here.Dev != above.Dev {
		return err
	}
	return syscall.Mount("tmpfs", l.Data(), "tmpfs", 0, storageSize)
}
