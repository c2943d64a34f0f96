package host

import (
	"io/fs"
	"path/filepath"
)

// Look is how a file looks from outside: one that looks as it did when it was read to
// its end has gained nothing. The zero value is no look.
type Look struct {
	// Size is in bytes, Written the time of the last write in nanoseconds since 1970.
	Size, Written int64
}

// LookOf is how a file looked.
func LookOf(info fs.FileInfo) Look {
	return Look{Size: info.Size(), Written: info.ModTime().UnixNano()}
}

// Look looks at the file a name leads to; zero for one that is not there.
func (f Files) Look(name string) Look {
	info, err := f.Stat(name)
	if err != nil {
		return Look{}
	}
	return LookOf(info)
}

// Looks looks at the files in one folder, in the order of their names, in about half of
// the time that looking at each by its path takes.
func (f Files) Looks(dir string, names []string) []Look {
	dir = f.Path(dir)
	if looks, ok := looksIn(dir, names); ok {
		return looks
	}
	out := make([]Look, len(names))
	for i, name := range names {
		out[i] = Files{}.Look(filepath.Join(dir, name))
	}
	return out
}
