package state

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// safeName is what [Safe] makes of an id.
const safeName = `(?:[a-z0-9][a-z0-9_-]{7,79}|x-[0-9a-f]{32})`

// Files lists what stopgate made in the folder, by name and by form: somebody may
// have named a folder in which other things lie, under names like these. Set-aside
// stores count by their name alone.
func (d Dir) Files() []string {
	if d.path == "" {
		return nil
	}
	var all []string
	look := func(dir string, forms map[*regexp.Regexp]func(head []byte, size int64) bool) {
		entries, _ := os.ReadDir(dir) // a folder that cannot be read has none
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			for name, fits := range forms {
				if name.MatchString(e.Name()) && fits(head(path), info.Size()) {
					all = append(all, path)
				}
			}
		}
	}
	look(filepath.Join(d.path, sessionsDir), sessionForms)
	look(d.path, folderForms)
	return all
}

// Folders are the folders that hold [Dir.Files], the inner one first.
func (d Dir) Folders() []string { return []string{filepath.Join(d.path, sessionsDir), d.path} }

// The forms of the files, by name, from their first bytes and their size.
var (
	sessionForms = map[*regexp.Regexp]func([]byte, int64) bool{
		regexp.MustCompile(`^` + safeName + regexp.QuoteMeta(storeExt) + `$`):                                       isStore,
		regexp.MustCompile(`^` + safeName + regexp.QuoteMeta(lockExt) + `$`):                                        isEmpty,
		regexp.MustCompile(`^` + safeName + regexp.QuoteMeta(ephemeralExt) + `$`):                                   isCount,
		regexp.MustCompile(`^` + safeName + regexp.QuoteMeta(storeExt+asideMark) + `[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$`): func([]byte, int64) bool { return true },
	}
	folderForms = map[*regexp.Regexp]func([]byte, int64) bool{
		regexp.MustCompile(`^hook\.log(\.1)?$`):                                isLog,
		regexp.MustCompile(`^` + offFile + `$|^` + offPrefix + safeName + `$`): isSwitch,
	}
)

// headSize is how much of a file tells its form.
const headSize = 512

func head(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil
	}
	defer f.Close()                                    //nolint:errcheck // only read
	data, _ := io.ReadAll(io.LimitReader(f, headSize)) // what cannot be read has no form
	return data
}

// isStore knows a bbolt file by the magic number of its first page.
func isStore(head []byte, _ int64) bool {
	const at, magic = 16, 0xED0CDAED
	return len(head) >= at+4 && binary.NativeEndian.Uint32(head[at:]) == magic
}

func isEmpty(_ []byte, size int64) bool { return size == 0 }

func isCount(head []byte, _ int64) bool { return len(bytes.Trim(head, ".")) == 0 }

func isLog(head []byte, size int64) bool { return size == 0 || bytes.HasPrefix(head, []byte(`{"`)) }

func isSwitch(head []byte, size int64) bool {
	_, err := time.Parse(time.RFC3339, strings.TrimSpace(string(head)))
	return size == 0 || err == nil
}
