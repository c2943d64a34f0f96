package replay

import (
	"embed"
	"io/fs"
)

// The recording that `hookctl demo` plays: two background agents, each with a
// shell of its own, beside the coordinator's.
//
//go:embed testdata/captures/2.1.332/sib-sdk
var demo embed.FS

// Demo is a recording that is part of the program.
func Demo() (*Recording, error) {
	files, err := fs.Sub(demo, "testdata/captures/2.1.332/sib-sdk")
	if err != nil {
		return nil, err
	}
	return Load(files)
}
