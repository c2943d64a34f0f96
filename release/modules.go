package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/google/licensecheck"
)

// module is a module whose code is in the programs, or the standard library.
type module struct {
	Path, Version string
	// License is the text of its licence, and SPDX its name; "" where the text is
	// none of those that have a name.
	License, SPDX string
}

// std is how the standard library is called among modules.
const std = "std"

// systems are those that a release is made for.
var systems = []string{"linux", "darwin", "windows"}

// linked are the modules in the programs of any of the systems, and the standard
// library, sorted by path.
var linked = sync.OnceValues(func() ([]module, error) {
	found := map[string]module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			var p struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := dec.Decode(&p); err != nil {
				return nil, fmt.Errorf("go list: %w", err)
			}
			if p.Module == nil || p.Module.Main || found[p.Module.Path].Path != "" {
				continue
			}
			m, err := licensed(p.Module.Path, p.Module.Version, p.Module.Dir)
			if err != nil {
				return nil, err
			}
			found[m.Path] = m
		}
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	m, err := licensed(std, runtime.Version(), strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}
	found[std] = m
	var all []module
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
})

// licensed reads the licence of a module in its folder.
func licensed(path, version, dir string) (module, error) {
	m := module{Path: path, Version: version}
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return m, err
		}
		m.License = string(data)
		if cover := licensecheck.Scan(data); cover.Percent > 75 && len(cover.Match) > 0 {
			m.SPDX = cover.Match[0].ID
		}
		return m, nil
	}
	return m, fmt.Errorf("%s %s has no licence in %s: without one it cannot be passed on", path, version, dir)
}
