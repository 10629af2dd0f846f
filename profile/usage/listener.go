package usage

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotLocal is the error for an address that does not belong to this machine.
var ErrNotLocal = errors.New("it is not on this machine")

// OpenListener opens the local process that listens at an address, with its descendants. network is "tcp" with
// a loopback address and a port, or "unix" with a path. It returns an error unless the name of the process is
// one of commands, because a tunnel or the proxy of a container also listens but does none of the work. Only
// root and the user of the process can find it.
func OpenListener(network, address string, commands []string, now func() time.Time) (*Process, error) {
	if runtime.GOOS != "linux" {
		return nil,
			fmt.Errorf("find the process listening at %s: needs Linux (/proc), this is %s", address, runtime.GOOS)
	}
	return openListener("/proc", network, address, commands, now)
}

func openListener(root, network, address string, commands []string, now func() time.Time) (*Process, error) {
	sockets, err := listeningSockets(root, network, address)
	if err != nil {
		return nil, fmt.Errorf("find the process listening at %s: %w", address, err)
	}
	pid, err := socketOwner(root, sockets)
	if err != nil {
		return nil, fmt.Errorf("find the process listening at %s: %w", address, err)
	}
	p, err := openProcess(root, pid, true, now)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(commands, p.command) {
		return nil, fmt.Errorf("%s listens at %s, which is not %s", p.Name(), address, strings.Join(commands, " or "))
	}
	return p, nil
}

// Arguments returns the command line of the process, starting with its name, or nil if it cannot be read.
func (p *Process) Arguments() []string {
	text, err := os.ReadFile(p.path(strconv.Itoa(p.PID), "cmdline"))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// listeningSockets returns the inodes of the sockets that listen at an address.
func listeningSockets(root, network, address string) (map[string]bool, error) {
	if network == "unix" {
		return socketsIn(filepath.Join(root, "net", "unix"), func(fields []string) (string, bool) {
			const flags, inode, path = 3, 6, 7 // man 5 proc_net; the flag __SO_ACCEPTCON marks listening sockets
			if len(fields) <= path || fields[path] != address || fields[flags] != "00010000" {
				return "", false
			}
			return fields[inode], true
		})
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, errors.New("its port is not a number")
	}
	at, err := netip.ParseAddr(host)
	if err != nil && host != "localhost" || err == nil && !at.Unmap().IsLoopback() {
		return nil, ErrNotLocal
	}
	found := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		more, err := socketsIn(filepath.Join(root, "net", table), func(fields []string) (string, bool) {
			const local, state, inode, listen = 1, 3, 9, "0A"
			if len(fields) <= inode || fields[state] != listen {
				return "", false
			}
			bound, ok := parseBound(fields[local])
			serves := bound.Addr().IsUnspecified() || bound.Addr() == at.Unmap() ||
				host == "localhost" && bound.Addr().IsLoopback()
			return fields[inode], ok && uint64(bound.Port()) == number && serves
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6 has one table
			return nil, err
		}
		for inode := range more {
			found[inode] = true
		}
	}
	return found, nil
}

// socketsIn returns the inodes that the function inode extracts from lines of a table of /proc/net.
func socketsIn(path string, inode func(fields []string) (string, bool)) (map[string]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found := map[string]bool{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if id, ok := inode(strings.Fields(lines.Text())); ok {
			found[id] = true
		}
	}
	return found, lines.Err()
}

// parseBound parses "0100007F:1538": words of 32 bits in host order, which is little-endian on all platforms of
// kitescope.
func parseBound(text string) (netip.AddrPort, bool) {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}

// socketOwner returns the process that holds one of the sockets. If several hold it, e.g. a server and its children,
// it returns their ancestor.
func socketOwner(root string, sockets map[string]bool) (int, error) {
	if len(sockets) == 0 {
		return 0, errors.New("no process on this machine does")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return 0, fmt.Errorf("read the list of processes: %w", err)
	}
	parents, closed := map[int]int{}, false
	reader := &Process{root: root}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		has, err := hasSocket(filepath.Join(root, e.Name(), "fd"), sockets)
		closed = closed || errors.Is(err, os.ErrPermission)
		if !has {
			continue
		}
		if s, err := reader.stat(pid); err == nil {
			parents[pid] = s.parent
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(parents)) { // deterministic if two servers share the port
		if _, also := parents[parents[pid]]; !also {
			return pid, nil
		}
	}
	if closed {
		return 0, errors.New("only root and its owner can read the process")
	}
	return 0, errors.New("its process is not visible from here (another container?)")
}

// hasSocket reports whether a file descriptor in the folder refers to one of the sockets.
func hasSocket(folder string, sockets map[string]bool) (bool, error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		link, err := os.Readlink(filepath.Join(folder, e.Name()))
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(link, "socket:["); ok && sockets[strings.TrimSuffix(inode, "]")] {
			return true, nil
		}
	}
	return false, err
}
