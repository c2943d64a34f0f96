package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"stopgate/pkg/host"
)

func tooLarge() error { return fmt.Errorf("larger than %d kB", MaxFile>>10) }

// noSuchFile tells that there is no such file.
func noSuchFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// reason is why a file cannot be read, without its path.
func reason(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, host.ErrNotRegular):
		return host.ErrNotRegular.Error()
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// readPerson reads the person's own file. It may be a link: some keep such files
// elsewhere.
func readPerson(files host.Files, path string) ([]byte, error) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(file, info)
}

func readAll(file *os.File, info fs.FileInfo) ([]byte, error) {
	defer file.Close() //nolint:errcheck // only read
	if info.Size() > MaxFile {
		return nil, tooLarge()
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = tooLarge()
	}
	return data, err
}

// projectFile is a place where a project's file may be.
type projectFile struct{ root, folder string }

func (f projectFile) path() string { return filepath.Join(f.folder, ProjectFile) }

// read reads a project's file. Whatever links it is made of, it is none outside of
// the project.
func (f projectFile) read(files host.Files) ([]byte, error) {
	root, err := os.OpenRoot(files.Path(f.root))
	if err != nil {
		return nil, fs.ErrNotExist // the project is not there
	}
	defer root.Close() //nolint:errcheck // only read
	name, err := filepath.Rel(f.root, f.path())
	if err != nil {
		return nil, err
	}
	file, err := root.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = host.ErrNotRegular
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return readAll(file, info)
}

// maxFolders bounds how far up is looked.
const maxFolders = 64

// projectFiles are the places where a project's file may be, the nearest first: from
// the folder up to the project's root, never above it. The root is the client's
// $CLAUDE_PROJECT_DIR where the folder lies in it, else the folder with the
// repository that it lies in, else the client's alone, else the folder itself.
func projectFiles(h host.Host, cwd string) []projectFile {
	if !filepath.IsAbs(cwd) {
		return nil
	}
	var folders []string
	for at := filepath.Clean(cwd); len(folders) < maxFolders; at = filepath.Dir(at) {
		folders = append(folders, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	project := h.Env("CLAUDE_PROJECT_DIR")
	if !filepath.IsAbs(project) {
		project = ""
	}
	for i, at := range folders {
		if project != "" && at == filepath.Clean(project) {
			return within(at, folders[:i+1])
		}
	}
	for i, at := range folders {
		if _, err := h.Files.Stat(filepath.Join(at, ".git")); err == nil {
			return within(at, folders[:i+1])
		}
	}
	if project != "" {
		return within(project, []string{project})
	}
	return within(folders[0], folders[:1])
}

func within(root string, folders []string) []projectFile {
	var all []projectFile
	for _, f := range folders {
		all = append(all, projectFile{root: root, folder: f})
	}
	return all
}
