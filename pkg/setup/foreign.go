package setup

import (
	"bytes"
	"os"
	"path/filepath"

	"stopgate/pkg/host"
)

// foreign says what a program is that is not the one that install put in place; ""
// for that one. One that is not there is an error.
func (w World) foreign(program string, rec record) (string, error) {
	if !filepath.IsAbs(program) {
		return "not tried: " + program + " is another program in each folder", nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	known := rec.Programs[program]
	switch {
	case program == w.Hook() && known != "":
		data, err := host.Files{}.Read(program)
		if err == nil && hashOf(data) == known {
			return "", nil
		}
		if (err != nil || !bytes.HasPrefix(data, []byte("#!"))) && !isProgram(program, hookName) {
			return "", &damagedError{w.Short(program), !info.Mode().IsRegular() || len(data) > 0}
		}
		return "not tried: " + w.Short(program) + " is not the program that install put there", nil
	case !info.Mode().IsRegular() || !isProgram(program, hookName):
		return "not tried: " + w.Short(program) + " is no program of stopgate", nil
	}
	return "not tried: " + w.Short(program) + " was built from the sources of stopgate, and not put there by install", nil
}

// A damagedError says that what lies in the hook's place is no program any more, as
// after a disk that was full. Stays tells that an installation leaves it there.
type damagedError struct {
	path  string
	stays bool
}

func (e *damagedError) Error() string {
	return e.path + " is not the program that install put there, and none of stopgate: no event is answered"
}

// mend is what to do about it; "" for installing again.
func (e *damagedError) mend() string {
	if e.stays {
		return "move it away, then " + again
	}
	return ""
}
