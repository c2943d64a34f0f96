package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stopgate/pkg/version"
)

// built is one program as goreleaser lists it in dist/artifacts.json.
type built struct {
	Name, Path, Goos, Goarch, Type string
	Extra                          struct{ ID string }
}

// npmNames are Node's names for systems and processors.
var npmNames = map[string]string{"windows": "win32", "amd64": "x64"}

func npmName(name string) string {
	if n := npmNames[name]; n != "" {
		return n
	}
	return name
}

// npm makes the package that people install and one for each platform, out of the
// programs that goreleaser built, as dist/npm/*.tgz.
func npm(dist string) error {
	programs, err := builds(dist)
	if err != nil {
		return err
	}
	to := filepath.Join(dist, "npm")
	if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o755)); err != nil {
		return err
	}
	platforms := map[string][]content{}
	optional := map[string]string{}
	for _, p := range programs {
		name := "stopgate-" + npmName(p.Goos) + "-" + npmName(p.Goarch)
		if platforms[name] == nil {
			optional[name] = version.Number()
			if platforms[name], err = platform(name, p); err != nil {
				return err
			}
		}
		data, err := os.ReadFile(p.Path)
		if err != nil {
			return err
		}
		platforms[name] = append(platforms[name], content{"bin/" + p.Name, data, 0o755})
	}
	for name, files := range platforms {
		if err := npmPack(to, name, files); err != nil {
			return err
		}
	}
	launcher, err := launcher(optional)
	if err != nil {
		return err
	}
	return npmPack(to, "stopgate", launcher)
}

// launcher is the package that people install.
func launcher(optional map[string]string) ([]content, error) {
	var files []content
	from := filepath.Join("npm", "stopgate")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if filepath.Dir(name) == "bin" {
			mode = 0o755
		}
		if name == "package.json" {
			data, err = fill(data, map[string]any{"optionalDependencies": optional})
		}
		files = append(files, content{filepath.ToSlash(name), data, mode})
		return err
	})
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile("LICENSE")
	return append(files, content{"LICENSE", license, 0o644}), err
}

// npmPack writes a package as `npm pack` would, but for modes and times, which are
// the same wherever it is made.
func npmPack(dir, name string, files []content) (err error) {
	made, err := epoch()
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b content) int { return strings.Compare(a.name, b.name) })
	file, err := os.Create(filepath.Join(dir, name+"-"+version.Number()+".tgz"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	for _, f := range files {
		err = errors.Join(err, w.WriteHeader(&tar.Header{
			Name: "package/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: made,
		}))
		_, writeErr := w.Write(f.data)
		err = errors.Join(err, writeErr)
	}
	return errors.Join(err, w.Close(), packed.Close())
}

// builds are hook and hookctl for each platform.
func builds(dist string) ([]built, error) {
	data, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var all, programs []built
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("artifacts.json: %w", err)
	}
	for _, b := range all {
		if b.Type == "Binary" && (b.Extra.ID == "hook" || b.Extra.ID == "hookctl") {
			programs = append(programs, b)
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("artifacts.json in %s lists no program", dist)
	}
	return programs, nil
}

// platform is the package of a platform, but for its programs.
func platform(name string, p built) ([]content, error) {
	var files []content
	for _, from := range []string{filepath.Join("npm", "platform.json"), "LICENSE", filepath.Join("release", "generated", "NOTICE.txt")} {
		data, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		to := filepath.Base(from)
		if to == "platform.json" {
			to = "package.json"
			data, err = fill(data, map[string]any{
				"name": name, "os": []string{npmName(p.Goos)}, "cpu": []string{npmName(p.Goarch)},
				"description": "The programs of stopgate for " + p.Goos + " on " + p.Goarch,
			})
			if err != nil {
				return nil, err
			}
		}
		files = append(files, content{to, data, 0o644})
	}
	return files, nil
}

// fill sets the version and more in a package.json.
func fill(data []byte, more map[string]any) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	fields["version"] = version.Number()
	maps.Copy(fields, more)
	out, err := json.MarshalIndent(fields, "", "  ")
	return append(out, '\n'), err
}
