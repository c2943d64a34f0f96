package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// looksIn looks at files beside their folder, so that the path to it is walked once.
func looksIn(dir string, names []string) ([]Look, bool) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer folder.Close() //nolint:errcheck // only looked into
	out := make([]Look, len(names))
	for i, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(int(folder.Fd()), name, &st, 0) == nil { //nolint:gosec // a file descriptor fits
			out[i] = Look{Size: st.Size, Written: st.Mtim.Nano()}
		}
	}
	return out, true
}
