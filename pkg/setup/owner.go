package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stopgate/pkg/state"
)

// HomeProblem tells why nothing may be made in this home folder: there is none, or it
// is another person's. nil is for one in which something may be.
func (w World) HomeProblem() error {
	if home := w.Home(); home != "" {
		if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the home folder %s does not exist, and is not made by this: make it, or set HOME", home)
		}
	}
	return w.OthersHome()
}

// OthersHome refuses root in a person's home, as sudo brings it about: what it made
// there would be root's. A home that is root's by the list of users is root's whoever
// owns it, as where a container has it from outside.
func (w World) OthersHome() error {
	owner, ok := ownerOf(w.Home())
	if !ok || w.uid() != 0 || owner == 0 {
		return nil
	}
	self, err := user.LookupId("0")
	if err != nil || filepath.Clean(self.HomeDir) == filepath.Clean(w.Home()) {
		return nil //nolint:nilerr // where there is no list of users nothing is known of homes
	}
	name := userName(owner)
	return fmt.Errorf("this runs as root, and %s is the home folder of %s: what is made there would be root's; "+
		"run it as %s, without sudo, or for root itself with root's own home: sudo -H", w.Home(), name, name)
}

// uid is the user that this runs as; -1 where there is no such thing.
func (w World) uid() int { return os.Geteuid() }

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// Stranger is a file in a place of ours or of the client that belongs to another user.
type Stranger struct{ Path, Owner string }

// maxStrangers bounds how many files are looked at in one folder.
const maxStrangers = 5000

// Strangers are the files of the installation, of the state and of the settings whose
// owner is not whose home this is, and that person. An installation by root leaves
// such files behind, and the hook cannot write them.
func (w World) Strangers() (all []Stranger, person string) {
	uid := w.uid()
	if owner, ok := ownerOf(w.Home()); ok && uid == 0 {
		uid = owner
	}
	if uid < 0 {
		return nil, ""
	}
	look := func(path string) {
		if owner, ok := ownerOf(path); ok && owner != uid {
			all = append(all, Stranger{path, userName(owner)})
		}
	}
	roots := []string{w.Data(), state.Locate(w.Env)}
	above := map[string]bool{}
	for _, root := range roots {
		// The folders that were made on the way there, the outermost first.
		var way []string
		for dir := filepath.Dir(root); strings.HasPrefix(dir, w.Home()+string(filepath.Separator)) && !above[dir]; dir = filepath.Dir(dir) {
			above[dir] = true
			way = append(way, dir)
		}
		for _, dir := range slices.Backward(way) {
			look(dir)
		}
		seen := 0
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if seen++; err != nil || seen > maxStrangers {
				return fs.SkipAll // what cannot be read is another check's to tell
			}
			look(path)
			return nil
		})
	}
	look(w.Config())
	for _, s := range w.Scopes()[:1] {
		look(s.Path)
	}
	return all, userName(uid)
}
