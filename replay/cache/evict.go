package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// abandoned is the age from which a temporary file is one that a crash has left.
const abandoned = time.Hour

// keep saves a block, and makes room for it first. One for which there is no room, because all others are of open files, is not kept.
func (c *cached) keep(path string, h header, content []byte) error {
	n := headerSize + h.length
	c.mu.Lock()
	kept, err := c.room(n)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if !kept {
		c.noteOnce("limit", fmt.Sprintf("the cache limit of %d bytes is smaller than the files read: not all of them are cached", c.options.Limit))
		return nil
	}
	if err = c.save(path, h, content); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		c.mu.Lock()
		swept := c.sweep(0, max(n, c.used/8)) // others may have filled the disk: what is old here goes first
		c.mu.Unlock()
		if swept == nil {
			err = c.save(path, h, content)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending -= n
	if err != nil {
		c.used -= n
	}
	return err
}

// room counts n more bytes, if there is room for them.
func (c *cached) room(n int64) (bool, error) {
	switch limit := c.options.Limit; {
	case limit <= 0:
	case c.used+n > limit:
		if c.full || n > limit {
			return false, nil
		}
		// A sixteenth more than is needed, so that the folder is not looked through for every block.
		if err := c.sweep(n+limit/16, 0); err != nil {
			return false, err
		}
		if c.used+n > limit {
			c.full = true
			return false, nil
		}
	case c.wrote+n > limit/16: // others may have written too
		if err := c.sweep(n, 0); err != nil {
			return false, err
		}
	}
	c.used += n
	c.wrote += n
	c.pending += n
	return true, nil
}

// entry is a block in the folder.
type entry struct {
	path, stem string
	size       int64
	used       time.Time
}

// sweep counts what is in the folder and takes out the blocks that were not used for longest, as far as there is more than the limit
// less spare, and free bytes at the least; blocks of files that this process has open stay. Other processes' blocks count, and go,
// like ours. Only files with names of blocks are touched.
func (c *cached) sweep(spare, free int64) error {
	entries, err := c.entries()
	if err != nil {
		return err
	}
	c.used, c.wrote = c.pending, 0
	for _, e := range entries {
		c.used += e.size
	}
	target := c.used - free
	if c.options.Limit > 0 {
		target = min(target, c.options.Limit-spare)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if n := a.used.Compare(b.used); n != 0 {
			return n
		}
		return strings.Compare(a.path, b.path)
	})
	for _, e := range entries {
		if c.used <= target {
			break
		}
		if c.open[e.stem] > 0 && filepath.Dir(filepath.Dir(e.path)) == c.dir {
			continue
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		c.used -= e.size
	}
	return nil
}

// entries lists the blocks of all places, and removes what crashes have left. What another process removes meanwhile is not there.
func (c *cached) entries() (list []entry, err error) {
	places, err := os.ReadDir(c.options.Folder)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		if len(place.Name()) != 16 || strings.Trim(place.Name(), "0123456789abcdef") != "" || !place.IsDir() {
			continue
		}
		dir := filepath.Join(c.options.Folder, place.Name())
		folders, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, folder := range folders {
			if len(folder.Name()) == 2 && folder.IsDir() {
				if list, err = c.blocksIn(list, filepath.Join(dir, folder.Name())); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// blocksIn adds the blocks of one folder.
func (c *cached) blocksIn(list []entry, dir string) ([]entry, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if stem, ok := blockName(f.Name()); ok {
			list = append(list, entry{path: path, stem: stem, size: info.Size(), used: info.ModTime()})
		} else if strings.HasPrefix(f.Name(), temporary) && c.options.Now().Sub(info.ModTime()) > abandoned {
			_ = os.Remove(path)
		}
	}
	return list, nil
}
