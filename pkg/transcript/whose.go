package transcript

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"

	"stopgate/pkg/host"
)

// OfAgent is the transcript of an agent of the session whose coordinator's
// transcript is main: given, the path that an event names, where that is a regular
// file and not another's, else the file in its place, flat or below a workflow
// (docs/client.md: files). An agent that has only its meta file yet has its
// transcript beside that. Where there is neither, it is the path at which the file
// is to come, and "" for an id that names no file. For [Main] it is main itself.
//
// This is the one place that says whose a file is before it is read; what a reading
// takes from it is up to [Source].
func OfAgent(files host.Files, main, id, given string) string {
	if id == Main {
		return main
	}
	p := place{files: files, main: main, id: id}
	dir := AgentsDir(main)
	flat := AgentPath(dir, id)
	switch {
	case p.holds(given):
		return given
	case flat != given && p.holds(flat):
		return flat
	}
	if flat != "" {
		for _, flow := range flows(files, dir) {
			if path := AgentPath(flow, id); path != given && p.holds(path) {
				return path
			}
		}
	}
	if given == flat {
		return flat
	}
	if _, err := files.Stat(given); err != nil && AgentOf(given) == id && !p.another(linked(files, given)) {
		return given // not there yet
	}
	return flat
}

// place is where the files of an agent are looked for.
type place struct {
	files    host.Files
	main, id string
}

// holds tells whether path is the agent's transcript, or is beside its meta file.
func (p place) holds(path string) bool {
	if path == "" || p.id == "" {
		return false
	}
	info, err := os.Lstat(p.files.Path(path))
	link := ""
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		link = linked(p.files, path)
		info, err = p.files.Stat(path)
	}
	if p.another(path) || p.another(link) {
		return false
	}
	if err != nil {
		return AgentOf(path) == p.id && p.files.Regular(MetaPath(path))
	}
	if !info.Mode().IsRegular() || AgentOf(path) == p.id && link == "" {
		return info.Mode().IsRegular()
	}
	main, err := p.files.Stat(p.main)
	return err != nil || !os.SameFile(info, main)
}

// another tells whether a file's name is another agent's. An id that is no plain
// name stands in no file's name, so none is another's.
func (p place) another(path string) bool {
	id := AgentOf(path)
	return id != "" && id != p.id && plainName(p.id)
}

// linked is the path that a link leads to at last, and "" for what is none.
func linked(files host.Files, path string) string {
	next, err := os.Readlink(files.Path(path))
	if err != nil {
		return ""
	}
	if end, err := filepath.EvalSymlinks(files.Path(path)); err == nil {
		return end
	}
	return next // it leads nowhere
}

// owner is whose lines are read from the file: the agent's whose name it bears,
// whatever the reader takes it for.
func (s Source) owner() string { return cmp.Or(AgentOf(s.Path), s.Owner) }
