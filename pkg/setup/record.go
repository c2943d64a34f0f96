package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
)

// record is what an installation did on this machine, so that it can be undone.
type record struct {
	// Files are the settings files with entries of ours.
	Files []recordedFile `json:"files,omitempty"`
	// Folders had to be made for settings files, Made for everything else.
	Folders []string `json:"folders,omitempty"`
	Made    []string `json:"made,omitempty"`
	// Programs are the programs that were put in place, by path, with the
	// SHA-256 of their bytes.
	Programs map[string]string `json:"programs,omitempty"`
	// Version is theirs; "" for those of a time when it was not noted.
	Version string `json:"version,omitempty"`
	// From is the folder that they came from: of the programs, or of their sources.
	From string `json:"from,omitempty"`
	// Link is the link to hookctl; "" for none.
	Link string `json:"link,omitempty"`
}

type recordedFile struct {
	Path string `json:"path"`
	// NoCourier: the courier was not wanted, rather than not known.
	NoCourier bool `json:"no_courier,omitempty"`
	// NoLead: the same of the coordinator's hold.
	NoLead bool `json:"no_lead,omitempty"`
}

func (r *record) file(path string) *recordedFile {
	i := slices.IndexFunc(r.Files, func(f recordedFile) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &r.Files[i]
}

// add notes a settings file with entries of ours.
func (r *record) add(path string, c Choice) {
	if r.file(path) == nil {
		r.Files = append(r.Files, recordedFile{Path: path})
	}
	r.file(path).NoCourier, r.file(path).NoLead = !c.Courier, c.Lead == policy.LeadNever
}

// with is a list of folders with more, each once.
func with(dirs []string, more ...string) []string {
	for _, d := range more {
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func (w World) recordPath() string { return filepath.Join(w.Data(), recordFile) }

// load returns an empty record where there is none.
func (w World) load() (record, error) {
	var r record
	data, err := host.Files{}.Read(w.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return record{}, fmt.Errorf("record of the installation: %s: %w", w.recordPath(), err)
	}
	return r, nil
}

func (w World) save(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := (host.Files{}).Read(w.recordPath()); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return host.Replace(w.recordPath(), data, 0o600)
}

// lockWait is how long one installation waits for another to end.
const lockWait = time.Minute

// lock keeps other installations of this user out. It returns the folders that
// had to be made.
func (w World) lock() (*state.Lock, []string, error) {
	if w.Data() == "" {
		return nil, nil, ErrNoHome
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	var made []string
	for {
		more, err := host.MakeDirs(w.Data())
		made = append(made, more...)
		if err != nil {
			return nil, made, err
		}
		l, err := state.Acquire(ctx, filepath.Join(w.Data(), lockFile), false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept away by an uninstall that ended just now
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another installation is under way: %w", err)
		}
		return l, made, err
	}
}

// removeEmpty removes those of the folders that are empty, inner ones first, and
// returns those that stay.
func removeEmpty(dirs []string) []string {
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(dirs, func(d string) bool {
		err := os.Remove(d)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
}
