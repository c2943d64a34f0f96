// Command vulndb turns the records of the Go vulnerability database, as its
// module golang.org/x/vulndb holds them, into the layout that govulncheck reads
// from a folder, so that it can be run where only a module proxy can be reached:
//
//	go run ./.ci/vulndb FOLDER-OF-RECORDS FOLDER-TO-WRITE
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is what of a record the indexes hold.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

type vuln struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Fixed    string    `json:"fixed,omitempty"`
}

type module struct {
	Path  string `json:"path"`
	Vulns []vuln `json:"vulns"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulndb FOLDER-OF-RECORDS FOLDER-TO-WRITE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if err := errors.Join(os.MkdirAll(filepath.Join(to, "ID"), 0o755), os.MkdirAll(filepath.Join(to, "index"), 0o755)); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(from, "GO-*.json"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no records in %s", from)
	}
	modules := map[string]*module{}
	vulns := []map[string]any{}
	var latest time.Time
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(filepath.Join(to, "ID", e.ID+".json"), data, 0o644); err != nil {
			return err
		}
		if e.Modified.After(latest) {
			latest = e.Modified
		}
		vulns = append(vulns, map[string]any{"id": e.ID, "modified": e.Modified, "aliases": e.Aliases})
		for _, a := range e.Affected {
			m := modules[a.Package.Name]
			if m == nil {
				m = &module{Path: a.Package.Name}
				modules[m.Path] = m
			}
			v := vuln{ID: e.ID, Modified: e.Modified}
			for _, r := range a.Ranges {
				for _, event := range r.Events {
					if event.Fixed != "" {
						v.Fixed = event.Fixed
					}
				}
			}
			if !slices.ContainsFunc(m.Vulns, func(have vuln) bool { return have.ID == v.ID }) {
				m.Vulns = append(m.Vulns, v)
			}
		}
	}
	list := []*module{}
	for _, path := range slices.SortedFunc(maps.Keys(modules), strings.Compare) {
		list = append(list, modules[path])
	}
	return errors.Join(
		write(filepath.Join(to, "index", "db.json"), map[string]any{"modified": latest}),
		write(filepath.Join(to, "index", "modules.json"), list),
		write(filepath.Join(to, "index", "vulns.json"), vulns))
}

func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
